"""Standing instructions: which sentences of users hold until they are taken back."""

from chatfold.core.constraints.remarks import Remark, Remarks, remarks_of
from chatfold.core.constraints.standing import Standing, Words, standing, standing_by

__all__ = ["Remark", "Remarks", "Standing", "Words", "remarks_of", "standing", "standing_by"]
