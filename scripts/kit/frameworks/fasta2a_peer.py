# /// script
# dependencies = ["fasta2a==2.1.1", "httpx==0.28.1", "uvicorn==0.54.0"]
# ///
"""fasta2a: `client <url> <text>` prints the reply as JSON, `agent <port>` serves an agent."""

import asyncio
import json
import sys
import uuid
from contextlib import asynccontextmanager

from fasta2a import FastA2A, Worker
from fasta2a.broker import InMemoryBroker
from fasta2a.client import A2AClient
from fasta2a.schema import Artifact, Message, Part
from fasta2a.storage import InMemoryStorage

CHUNKS = ["one ", "two ", "three"]


async def client(url, text):
    message = Message(role="user", parts=[Part(text=text)], message_id=str(uuid.uuid4()))
    response = await A2AClient(url).send_message(message)
    if "error" in response:
        raise RuntimeError(response["error"])
    task = response["result"].get("task", response["result"])
    print("reply:", json.dumps("".join(part["text"] for artifact in task["artifacts"] for part in artifact["parts"])))


class Streaming(Worker):
    async def run_task(self, params):
        task = await self.storage.update_task(params["id"], state="working")
        whole = Artifact(artifact_id="answer", parts=[Part(text="".join(CHUNKS))])
        for index, chunk in enumerate(CHUNKS):
            part = Artifact(artifact_id="answer", parts=[Part(text=chunk)])
            last = index == len(CHUNKS) - 1
            await self.publish_artifact(task["id"], task["context_id"], part, append=index > 0, last_chunk=last)
        await self.storage.update_task(task["id"], state="completed", new_artifacts=[whole])

    async def cancel_task(self, params): ...

    def build_message_history(self, history): ...

    def build_artifacts(self, result): ...


def agent(port):
    import uvicorn

    worker = Streaming(storage=InMemoryStorage(), broker=InMemoryBroker())

    @asynccontextmanager
    async def lifespan(app):
        async with app.task_manager, worker.run():
            yield

    url = f"http://127.0.0.1:{port}"
    app = FastA2A(storage=worker.storage, broker=worker.broker, url=url, lifespan=lifespan)
    uvicorn.run(app, port=int(port))


match sys.argv[1:]:
    case ["client", url, text]:
        asyncio.run(client(url, text))
    case ["agent", port]:
        agent(port)
