"""Commands that failed, by what their programs say, where no exit code is given."""

from __future__ import annotations

import pytest

from chatfold.core.failures import reason_in

FAILED = """\
$ npm install
npm ERR! code ERESOLVE
npm ERR! ERESOLVE unable to resolve dependency tree
$ npm install
npm error code E404
npm error 404 Not Found - GET https://registry.npmjs.org/foo
$ pip install foo
ERROR: Could not find a version that satisfies the requirement foo
ERROR: No matching distribution found for foo
$ docker build -t x .
Step 4/9 : RUN npm ci
The command '/bin/sh -c npm ci' returned a non-zero code: 1
$ docker build .
ERROR: failed to solve: process "/bin/sh -c make" did not complete successfully: exit code: 2
$ docker run x
docker: Error response from daemon: port is already allocated.
$ docker run x
Unable to find image 'x:latest' locally
docker: Error response from daemon: pull access denied for x, repository does not exist
$ kubectl apply -f x.yml
error: error validating "x.yml": error validating data: unknown field
$ kubectl apply -f x.yml
Error from server (Forbidden): deployments.apps is forbidden
$ kubectl delete pod x
Error from server (NotFound): pods "x" not found
$ terraform apply
╷
│ Error: Error creating instance: InvalidAMIID
╵
$ terraform apply
Error: Error acquiring the state lock
$ psql -c 'update'
ERROR:  relation "orders" does not exist
LINE 1: update orders
$ psql
psql: error: connection to server on socket failed: FATAL: role "root" does not exist
$ mysql -e 'x'
ERROR 1146 (42S02) at line 1: Table 'shop.x' doesn't exist
$ make build
gcc -c a.c
make: *** [Makefile:12: a.o] Error 1
$ cp a b
cp: cannot stat 'a': No such file or directory
$ rm x
rm: cannot remove 'x': Permission denied
$ mkdir /root/x
mkdir: cannot create directory '/root/x': Permission denied
$ mv a b
mv: cannot move 'a' to 'b': Device or resource busy
$ git push
 ! [rejected]        main -> main (fetch first)
error: failed to push some refs to 'origin'
$ git push
fatal: Authentication failed for 'https://github.com/x/y.git/'
$ git push
remote: Permission to o/r.git denied to bot.
fatal: unable to access 'https://github.com/o/r.git/': The requested URL returned error: 403
$ git merge x
Auto-merging a.py
CONFLICT (content): Merge conflict in a.py
Automatic merge failed; fix conflicts and then commit the result.
$ git commit -m x
On branch main
nothing to commit, working tree clean
$ git commit -m x
black....................................................Failed
- hook id: black
- files were modified by this hook
$ git apply x
error: patch failed: a.py:10
error: a.py: patch does not apply
$ git checkout x
error: pathspec 'x' did not match any file(s) known to git
$ git checkout x
error: Your local changes to the following files would be overwritten by checkout:
	a.py
Aborting
$ git clone u
fatal: destination path 'y' already exists and is not an empty directory.
$ apt-get install foo
E: Unable to locate package foo
$ apt install foo
E: Could not open lock file /var/lib/dpkg/lock-frontend - open (13: Permission denied)
$ systemctl restart x
Job for x.service failed because the control process exited with error code.
$ systemctl restart x
Failed to restart x.service: Unit x.service not found.
$ ssh h 'rm x'
ssh: connect to host h port 22: Connection refused
$ ssh h 'rm x'
Host key verification failed.
$ scp a h:
a: No such file or directory
$ curl -X POST u
curl: (7) Failed to connect to x port 443: Connection refused
$ curl -X POST u
curl: (22) The requested URL returned error: 500
$ cargo build
error[E0425]: cannot find value `x` in this scope
error: could not compile `foo` due to previous error
$ go build
# x
./main.go:5:2: undefined: foo
$ npm run build
src/a.ts(3,5): error TS2322: Type 'string' is not assignable to type 'number'.
$ npm run build
> build
> vite build

error during build:
RollupError: Could not resolve entry module
$ foo deploy
bash: foo: command not found
$ foo deploy
/bin/sh: 1: foo: not found
$ ./x.sh
bash: ./x.sh: Permission denied
$ python manage.py migrate
Traceback (most recent call last):
  File "manage.py", line 1
django.db.utils.OperationalError: no such table
$ alembic upgrade head
FAILED: Can't locate revision identified by 'ab12'
$ helm upgrade x
Error: UPGRADE FAILED: another operation (install/upgrade/rollback) is in progress
$ aws s3 cp a s3://b
upload failed: ./a to s3://b/a An error occurred (AccessDenied) when calling the PutObject
$ aws ec2 terminate-instances
An error occurred (UnauthorizedOperation) when calling the TerminateInstances operation: You are
$ gcloud run deploy
ERROR: (gcloud.run.deploy) PERMISSION_DENIED: The caller does not have permission
$ az group delete
ERROR: (ResourceGroupNotFound) Resource group 'rg' could not be found.
$ gh pr merge 4
GraphQL: Pull Request is not mergeable (mergePullRequest)
$ gh pr create
pull request create failed: GraphQL: No commits between main and x
$ unzip a.zip
unzip:  cannot find or open a.zip, a.zip.zip or a.zip.ZIP.
$ tar xf a
tar: a: Cannot open: No such file or directory
tar: Error is not recoverable: exiting now
$ dd if=a of=b
dd: failed to open 'a': No such file or directory
$ echo x > f
bash: f: No space left on device
$ sed -i s/a/b/ f
sed: can't read f: No such file or directory
$ patch -p1 < x
1 out of 1 hunk FAILED -- saving rejects to file a.py.rej
$ kill 33
bash: kill: (33) - No such process
$ yarn add x
error No package "x" on the "npm" registry.
$ npm publish
npm ERR! 403 Forbidden - PUT https://registry.npmjs.org/x - You cannot publish over it
$ docker push x
denied: requested access to the resource is denied
$ docker rm x
Error: No such container: x
$ crontab x
x: No such file or directory
$ useradd bob
useradd: user 'bob' already exists
$ createdb x
createdb: error: database creation failed: ERROR:  database "x" already exists
$ rsync a b
rsync error: some files/attrs were not transferred (code 23) at main.c
$ wget u
--2026-- https://x
HTTP request sent, awaiting response... 404 Not Found
ERROR 404: Not Found.
$ brew install x
Error: No available formula with the name "x".
$ chmod +x y
chmod: cannot access 'y': No such file or directory
$ touch /x/y
touch: cannot touch '/x/y': No such file or directory
$ ln -s a b
ln: failed to create symbolic link 'b': File exists
$ docker compose up -d
service "api" failed to build: exit code 1
$ vercel deploy
Error: Command "npm run build" exited with 1
$ fly deploy
Error: failed to fetch an image or build from source: error building
$ x
Command timed out after 120 seconds
$ x
Process exited with code 1
$ x
[exit code: 127]
$ x
Exit code 2
foo
$ git push origin main
remote: error: GH006: Protected branch update failed for refs/heads/main.
To github.com:o/r.git
 ! [remote rejected] main -> main (protected branch hook declined)
error: failed to push some refs to 'github.com:o/r.git'
$ git rebase main
First, rewinding head
error: could not apply 1a2b3c4... Fix
hint: Resolve all conflicts
$ git stash pop
error: Your local changes to the following files would be overwritten by merge:
  a.py
Please commit your changes or stash them before you merge.
Aborting
$ git branch -d x
error: The branch 'x' is not fully merged.
$ docker compose up -d
Error response from daemon: Bind for 0.0.0.0:80 failed: port is already allocated
$ docker push r/x
The push refers to repository [docker.io/r/x]
unauthorized: authentication required
$ kubectl scale deploy x --replicas=3
Error from server (NotFound): deployments.apps "x" not found
$ kubectl rollout restart deploy/x
error: deployments.apps "x" not found
$ kubectl apply -f .
The connection to the server localhost:8080 was refused - did you specify the right host or port?
$ terraform apply -auto-approve
Acquiring state lock.
╷
│ Error: creating S3 Bucket (x): BucketAlreadyExists
│
╵
$ helm install api ./c
Error: INSTALLATION FAILED: cannot use again a name that is still in use
$ npm run deploy
> deploy
> node deploy.js

node:internal/process:1
Error: ENOENT: no such file or directory, open 'x'
    at Object.open (node:fs:1)
Node.js v20
$ npm ci
npm ERR! The `npm ci` command can only install with an existing package-lock.json
$ yarn build
yarn run v1
error Command failed with exit code 1.
info Visit https://yarnpkg.com
$ pnpm add x
 ERR_PNPM_FETCH_404  GET https://registry.npmjs.org/x: Not Found - 404
$ poetry add x
Could not find a matching version of package x
$ pip install -r r.txt
ERROR: Could not open requirements file: [Errno 2] No such file or directory: 'r.txt'
$ python deploy.py
Traceback (most recent call last):
  File "deploy.py", line 3, in <module>
KeyError: 'TOKEN'
$ python deploy.py
  File "deploy.py", line 3
    x = = 1
SyntaxError: invalid syntax
$ python3 deploy.py
python3: can't open file '/app/deploy.py': [Errno 2] No such file or directory
$ node deploy.js
/app/deploy.js:3
throw new Error('x')
^

Error: x
$ cargo publish
error: failed to publish to registry at https://crates.io

Caused by:
  the remote server responded with an error (status 403 Forbidden)
$ mvn deploy
[INFO] BUILD FAILURE
[INFO] Total time: 2 s
$ ./gradlew publish
FAILURE: Build failed with an exception.

* What went wrong:
$ alembic upgrade head
ERROR [alembic.util.messaging] Multiple head revisions are present
$ psql -f m.sql
psql:m.sql:3: ERROR:  column "x" already exists
$ mysql shop < d.sql
ERROR 1045 (28000): Access denied for user 'root'@'localhost'
$ redis-cli SET k v
(error) READONLY You can't write against a read only replica.
$ sqlite3 a.db 'insert into t values(1)'
Error: in prepare, no such table: t
$ aws s3 rm s3://b/k
delete failed: s3://b/k An error occurred (AccessDenied) when calling the DeleteObject operation:
$ aws s3 ls
Unable to locate credentials. You can configure credentials by running "aws configure".
$ sudo apt-get install -y x
sudo: a password is required
$ sudo systemctl start x
bob is not in the sudoers file. This incident will be reported.
$ systemctl start x
A dependency job for x.service failed. See 'journalctl -xe' for details.
$ nginx -s reload
nginx: [emerg] unknown directive "foo" in /etc/nginx/nginx.conf:3
$ ssh h 'reboot'
ssh: Could not resolve hostname h: Name or service not known
$ rsync a h:b
rsync: connection unexpectedly closed (0 bytes received so far) [sender]
rsync error: unexplained error (code 255) at io.c
$ chown bob x
chown: invalid user: 'bob'
$ rmdir x
rmdir: failed to remove 'x': Directory not empty
$ ansible-playbook s.yml
TASK [x]
fatal: [web1]: UNREACHABLE! => {"changed": false}
PLAY RECAP
$ flyctl deploy
Error: app not found
$ heroku ps:scale web=2
 ›   Error: No such app.
"""
WENT_WELL = """\
$ npm install
added 231 packages, and audited 232 packages in 9s

12 packages are looking for funding

found 0 vulnerabilities
$ npm install
npm warn deprecated x@1
added 3 packages in 2s
$ pip install foo
Successfully installed foo-1.2
$ pip install foo
Requirement already satisfied: foo in /usr/lib
$ docker build .
Successfully built 12ab
Successfully tagged x:latest
$ kubectl apply -f x.yml
deployment.apps/api configured
service/api unchanged
$ kubectl apply -f x.yml
deployment.apps/error-handler created
$ terraform apply
Apply complete! Resources: 1 added, 0 changed, 0 destroyed.
$ psql -c 'update'
UPDATE 3
$ psql -c 'update'
UPDATE 12
NOTICE:  table "x" does not exist, skipping
$ make build
gcc -Wall -Werror -c error.c
gcc -o x error.o
$ git push
To github.com:o/r.git
   1a2b..3c4d  main -> main
$ git push
remote: Resolving deltas: 100%
Everything up-to-date
$ git merge x
Updating 1a..2b
Fast-forward
 errors.py | 2 +-
$ git commit -m x
[main 1a2b3c] Fix error handling
 1 file changed, 2 insertions(+)
$ git commit -m 'x'
[main 4d5e] Handle failed payments
 2 files changed
$ git checkout -b fix-error
Switched to a new branch 'fix-error'
$ git clone u
Cloning into 'y'...
$ apt-get install foo
Setting up foo (1.2) ...
Processing triggers for man-db
$ systemctl restart x
$ curl -X POST u
{"id": 4, "error": null}
$ curl -X POST u
HTTP/1.1 201 Created

{"ok":true}
$ cargo build
   Compiling foo v0.1
warning: unused variable
    Finished dev [unoptimized] target(s) in 2s
$ npm run build
✓ 34 modules transformed.
dist/error-abc.js  1.2 kB
✓ built in 1.2s
$ python manage.py migrate
Operations to perform:
  Applying errors.0002_failed... OK
$ alembic upgrade head
INFO  [alembic.runtime.migration] Running upgrade a -> b, add error table
$ helm upgrade x
Release "x" has been upgraded. Happy Helming!
$ aws s3 cp a s3://b
upload: ./a to s3://b/a
$ gcloud run deploy
Service [api] revision [api-2] has been deployed and is serving 100 percent of traffic.
$ gh pr merge 4
✓ Squashed and merged pull request #4 (Fix failed login)
$ gh pr create
https://github.com/o/r/pull/4
$ tar czf a
a/
a/errors.txt
$ docker compose up -d
 Container api  Started
$ rm x
$ mkdir x
$ rsync -av a b
sending incremental file list
error.log

sent 120 bytes  received 35 bytes
$ pytest > out.txt; echo done
done
$ make deploy
Deploying...
0 errors, 0 warnings
Done.
$ ./run.sh
Processed 100 rows, 0 failed
$ black .
reformatted src/a.py
1 file reformatted, 3 files left unchanged.
$ npm publish
+ x@1.2.3
$ echo x > f
$ docker rm x
x
$ kill 33
$ x
Process exited with code 0
Output:
error: none
$ x
exit code: 0
$ ssh h 'tail app.log; rm x'
2026-01-01 ERROR failed to connect
2026-01-01 INFO ok
$ sed -i s/a/b/ f && cat f
raise ValueError('error: not found')
$ yarn add x
success Saved 1 new dependency.
$ wget u
2026 (1.2 MB/s) - 'x' saved [1234/1234]
$ git push origin main
remote: Resolving deltas
remote:
remote: Create a pull request for 'x' on GitHub by visiting:
remote:   https://github.com/o/r/pull/new/x
To github.com:o/r.git
 * [new branch] x -> x
$ git rebase main
Successfully rebased and updated refs/heads/x.
$ git stash pop
On branch x
Changes not staged for commit:
  modified: error.py
Dropped refs/stash@{0}
$ git add -A
warning: LF will be replaced by CRLF in a.py
$ git fetch
From github.com:o/r
 * branch main -> FETCH_HEAD
$ git checkout x
Switched to branch 'x'
Your branch is up to date with 'origin/x'.
$ git revert 1a2b
[main 3c4d] Revert "Fail on errors"
 1 file changed
$ docker compose down
 Container api  Removed
 Network x  Removed
$ docker build -t x .
#9 DONE 0.3s
#10 exporting to image
#10 naming to docker.io/library/x done
$ docker run --rm x migrate
Running migrations: error_codes... done
$ kubectl delete pod x
pod "x" deleted
$ kubectl scale deploy x --replicas=3
deployment.apps/x scaled
$ terraform destroy
Destroy complete! Resources: 3 destroyed.
$ npm run deploy
> deploy
Deployed to https://x
Warning: 2 deprecated APIs
$ npm audit fix
fixed 3 of 5 vulnerabilities
2 vulnerabilities required manual review
$ npm ci
added 12 packages in 1s
$ pip install x
Collecting x
Installing collected packages: x
Successfully installed x-1
WARNING: Running pip as the 'root' user
$ pip install -e .
  Running setup.py develop for x
Successfully installed x
[notice] A new release of pip is available
$ python deploy.py
INFO retrying after error
INFO deployed v3
$ python fix.py
Fixed 3 errors in 2 files
$ python train.py
epoch 1 loss 0.3 error 0.1
saved model.pt
$ cargo build --release
warning: `x` (lib) generated 2 warnings
    Finished release
$ mvn install
[INFO] BUILD SUCCESS
$ ./gradlew publish
BUILD SUCCESSFUL in 3s
$ alembic upgrade head
INFO  [alembic.runtime.migration] Context impl PostgresqlImpl.
$ psql -f m.sql
CREATE TABLE
INSERT 0 3
COMMIT
$ mysql shop < d.sql
mysql: [Warning] Using a password on the command line interface can be insecure.
$ redis-cli SET k v
OK
$ sqlite3 a.db 'delete from t'
$ aws s3 rm s3://b/k
delete: s3://b/k
$ aws lambda invoke --function-name f o.json
{
    "StatusCode": 200,
    "ExecutedVersion": "$LATEST"
}
$ sudo apt-get install -y x
debconf: delaying package configuration, since apt-utils is not installed
Setting up x (1.0)
$ sudo systemctl enable x
Created symlink /etc/systemd/system/x.service.
$ nginx -s reload
nginx: the configuration file /etc/nginx/nginx.conf syntax is ok
nginx: configuration file test is successful
$ ssh h 'systemctl restart x'
Warning: Permanently added 'h' (ED25519) to the list of known hosts.
$ rsync a h:b
sent 12 bytes  received 3 bytes
total size is 10  speedup is 0.67
$ tar -czf a.tgz /etc
tar: Removing leading `/' from member names
$ chmod 600 k
$ ansible-playbook s.yml
PLAY RECAP
web1 : ok=3 changed=1 unreachable=0 failed=0
$ sed -i 's/error/fatal/' a.py
$ make install
install -m 755 x /usr/local/bin
make[1]: Leaving directory '/x'
$ make clean
rm -f *.o
rm: cannot remove 'x': No such file or directory
make: [Makefile:4: clean] Error 1 (ignored)
$ yarn build
yarn run v1
Done in 3.2s.
$ black src
error_codes.py reformatted
All done!
$ flyctl deploy
==> Verifying app config
✓ Machine updated
Visit your newly deployed app
$ heroku config:set A=b
Setting A and restarting app... done, v12
$ crontab x
$ curl -X DELETE u
{"deleted":true,"errors":[]}
$ curl -X POST u
{"status":"error_free"}
$ wget u -O f
HTTP request sent, awaiting response... 200 OK
2026 (3 MB/s) - 'f' saved
"""


def transcript(text: str) -> list[tuple[str, str]]:
    """Return the commands of a transcript, each with what it put out."""
    found = (part.partition("\n") for part in text.removeprefix("$ ").split("\n$ "))
    return [(command, output) for command, _, output in found]


def reason(command: str, output: str, tool: str = "bash") -> str | None:
    return reason_in(output, name=tool, given=lambda: [command])


@pytest.mark.parametrize(("command", "output"), transcript(FAILED))
def test_what_a_program_complains_of_is_why_its_command_failed(command: str, output: str) -> None:
    told = reason(command, output)
    assert told is not None
    assert told.strip() in output


@pytest.mark.parametrize(("command", "output"), transcript(WENT_WELL))
def test_what_went_well_is_no_failure(command: str, output: str) -> None:
    assert reason(command, output) is None


@pytest.mark.parametrize("end", ["; cp new old", " || true", "\ncp new old"])
def test_a_command_behind_one_that_failed_may_have_done_its_work(end: str) -> None:
    said = "fetching\nfatal: no remote"
    assert reason("git pull && cp new old", said) == "fatal: no remote"
    assert reason(f"git pull{end}", said) is None


def test_what_only_looks_puts_out_what_others_have_said() -> None:
    said = "app.log\nfatal: no remote"
    assert reason("tail app.log", said) is None
    assert reason("tail app.log > copy", said) is not None


def test_an_exit_code_of_nothing_outdoes_what_was_said() -> None:
    said = "build\nfatal: one of many"
    assert reason("make", said) == "fatal: one of many"
    assert reason("make", f"{said}\nexit code: 0") is None


def test_an_error_that_was_overcome_is_none() -> None:
    assert reason("./run", "start\nError: try 1\n" + "step\n" * 6) is None
    assert reason("./run", "start\nError: try 1\n" + "step\n" * 5) == "Error: try 1"


def test_only_shells_write_so() -> None:
    said = "2 messages\nfatal: what they are about"
    assert reason("x", said, "exec_command") is not None
    assert reason("x", said, "save_report") is None


def test_a_tool_that_is_called_like_a_program_writes_as_the_program_does() -> None:
    said = 'Error from server (NotFound): pods "x" not found'
    assert reason("delete pod x", said, "kubectl") == said
    assert reason("kubectl delete pod x", said, "run_kubectl") == said
    assert reason("logs web-7", "2 requests\nfatal: no remote", "kubectl") is None
    assert reason_in("fatal: no remote", name="git", given=lambda: ["push", "origin"]) is not None


def test_the_end_of_a_long_output_is_read() -> None:
    said = "\n".join(f"compiled {n}.c" for n in range(2000))
    assert reason("make", said) is None
    assert reason("make", f"{said}\nmake: *** [all] Error 2") == "make: *** [all] Error 2"


def test_what_is_put_out_beside_an_output_says_so_too() -> None:
    result = {"stdout": "fetching", "stderr": "warn\nfatal: no remote", "interrupted": False}
    assert reason_in(result, name="Bash", given=lambda: ["git pull"]) == "fatal: no remote"
    assert reason_in({**result, "exit_code": 0}, name="Bash", given=lambda: ["git pull"]) is None
    assert reason_in({**result, "stderr": "warn"}, name="Bash", given=lambda: ["git pull"]) is None
