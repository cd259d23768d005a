"""An agent at a help desk: a business customer with many orders, who comes back to each of them."""

from __future__ import annotations

import random
from typing import Any

from .generate import Writer, words
from .gold import Item

_FIRST = words("Dana Ravi Mette Jorge Aiko Selma Piotr Noor Ines Tomas")
_LAST = words("Holt Iyer Krog Paz Mori Aydin Wrona Haddad Vidal Novak")
_GOODS = words("kettle lamp backpack router headset blender jacket tripod keyboard heater")
_METHODS = ("gift_card", "credit_card", "paypal")
_STREETS = words("Harbour Street|Mill Lane|Station Road|Orchard Way|Castle Hill", "|")


def support(rng: random.Random, tokens: int) -> list[Item]:
    """Return a history of about that size: one customer with ever more orders and wishes."""
    return _Desk(rng).run(tokens)


class _Desk:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.w = Writer(rng, "You are a support agent of a shop. Confirm before you change things.")

    def run(self, tokens: int) -> list[Item]:
        self._greet()
        wishes = [self._back, self._swap, self._where, self._ship, self._case] + [self._ask] * 3
        while self.w.size < tokens:
            if len(self.orders) < 3 or self.rng.random() < 0.25:
                self._look_up()
            self.rng.choice(wishes)()
        self._finish()
        return self.w.items

    def _order(self) -> dict[str, Any]:
        rng, w = self.rng, self.w
        return {
            "order_id": f"#W{rng.randrange(1_000_000, 9_999_999)}",
            "placed": w.day(),
            "total": round(rng.uniform(20, 900), 2),
            "payment": rng.choice(self.methods),
            "items": [
                {
                    "name": name,
                    "item_id": str(rng.randrange(10**9, 10**10)),
                    "price": round(rng.uniform(5, 300), 2),
                    "serial": f"SN{w.hexadecimal(8).upper()}",
                }
                for name in rng.sample(_GOODS, 3)
            ],
            "tracking": str(rng.randrange(10**11, 10**12)),
            "warehouse": f"WH-{rng.randrange(10, 99)}{rng.choice('ABCD')}",
        }

    def _greet(self) -> None:
        rng, w = self.rng, self.w
        first, last = rng.choice(_FIRST), rng.choice(_LAST)
        self.id = f"{first}_{last}_{rng.randrange(1000, 9999)}".lower()
        self.mail = f"{first}.{last}{rng.randrange(10, 99)}@example.com".lower()
        self.office = f"{rng.randrange(100, 999)} {rng.choice(_STREETS)}"
        self.methods = [f"{kind}_{rng.randrange(10**6, 10**7)}" for kind in _METHODS]
        self.orders: list[dict[str, Any]] = []
        self.made: list[str] = []
        w.user(
            f"Hi, this is {first} {last}, {self.mail}. I have questions about many orders. Please "
            f"never refund to a gift card, and refer to PO-{rng.randrange(10_000, 99_999)}."
        )
        zip_code = str(rng.randrange(10_000, 99_999))
        profile = {"customer_id": self.id, "offices": [self.office], "zip": zip_code}
        w.call("find_customer", {**profile, "methods": self.methods}, mail=self.mail)
        w.answer(f"Thank you, {first}. Which order is it about?")

    def _look_up(self) -> None:
        order = self._order()
        self.w.user(f"There is also the order {order['order_id']}.")
        self.w.call("get_order", order, order_id=order["order_id"])
        self.w.answer(
            f"I see it, it was placed on {order['placed']}. Tell me what you would like me to do "
            f"about it, and I will look into what our rules allow before I change anything."
        )
        self.orders.append(order)

    def _finish(self) -> None:
        self.w.user("Thanks, that is all. Please send me the list of what you did.")
        done = ", ".join(self.made[-12:])
        self.w.call("send_mail", {"sent": True}, to=self.mail, text=f"{self.id}: {done}")
        self.w.answer("It is sent.")

    def _some(self) -> tuple[dict[str, Any], dict[str, Any]]:
        order = self.w.again(self.orders)
        return order, self.rng.choice(order["items"])

    def _new(self, letters: str) -> str:
        made = f"{letters}-{self.rng.randrange(10_000, 99_999)}"
        self.made.append(made)
        return made

    def _back(self) -> None:
        order, item = self._some()
        self.w.user(f"I want to send back the {item['name']} that I bought on {order['placed']}.")
        self.w.answer(f"The {item['name']} for {item['price']} from {order['order_id']}, is it?")
        self.w.user("Yes.")
        self.w.call("create_return", {"return": self._new("RMA"), "label_until": self.w.day()},
                    order_id=order["order_id"], item_id=item["item_id"],
                    refund_to=order["payment"])  # fmt: skip
        self.w.answer(
            f"Done, the return is {self.made[-1]}. The label comes by mail; please put it on the "
            "parcel and hand it in at any shop of the carrier, and the money comes back then."
        )

    def _swap(self) -> None:
        order, item = self._some()
        self.w.user(f"The {item['name']} is the wrong size, can I get another one?")
        choices = [{"item_id": str(self.rng.randrange(10**9, 10**10)), "size": size,
                    "price": round(self.rng.uniform(5, 300), 2)} for size in "SL"]  # fmt: skip
        self.w.call("list_variants", choices, item_id=item["item_id"])
        self.w.user("The one in L, please.")
        self.w.call("exchange", {"exchange": self._new("EXC")}, order_id=order["order_id"],
                    item_id=item["item_id"], for_id=choices[1]["item_id"])  # fmt: skip
        self.w.answer(
            f"Done, the exchange is {self.made[-1]}. You will get a message as soon as the parcel "
            f"has left us, and you need not send anything back before the new one is there."
        )

    def _where(self) -> None:
        order, _ = self._some()
        self.w.user(f"Where is the order from {order['placed']}?")
        scans = [
            {"at": f"{self.w.day()} {self.w.clock()}", "hub": f"HUB{self.rng.randrange(100, 999)}"}
            for _ in range(3)
        ]
        self.w.call("track", {"scans": scans}, number=order["tracking"])
        self.w.answer(
            f"Its last scan was at {scans[-1]['hub']}. It is on its way, and the carrier expects "
            "to hand it over within the next days; there is nothing that you have to do."
        )

    def _ship(self) -> None:
        order, _ = self._some()
        self.w.user(f"Send the order from {order['placed']} to my office.")
        self.w.call("set_address", {"ok": True}, order_id=order["order_id"],
                    address=self.office)  # fmt: skip
        self.w.answer(f"{order['order_id']} goes to {self.office}.")

    def _ask(self) -> None:
        good = self.rng.choice(_GOODS)
        self.w.user(f"What are the rules for a {good} that was used once?")
        self.w.call("search_rules", self.w.prose(self.rng.randint(25, 50)), about=good)
        self.w.answer(self.w.prose(3))

    def _case(self) -> None:
        if self.made:
            case = self.w.again(self.made)
            self.w.user("Is what I asked for before through?")
            self.w.call("get_case", {"status": "open", "since": self.w.day()}, case=case)
            self.w.answer(
                "It is being worked on. Our colleagues look at such cases in the order in which "
                "they came in, and you will hear from us as soon as there is anything new to tell."
            )
