# /// script
# dependencies = ["google-adk[a2a]==2.13.0", "uvicorn==0.54.0"]
# ///
"""Google ADK: `client <url> <text>` prints the reply as JSON, `agent <port>` serves an agent."""

import asyncio
import json
import sys

import uvicorn
from google.adk.a2a.utils.agent_to_a2a import to_a2a
from google.adk.agents import LlmAgent
from google.adk.agents.remote_a2a_agent import RemoteA2aAgent
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai.types import Content, Part, UserContent

CHUNKS = ["one ", "two ", "three"]


async def client(url, text):
    runner = InMemoryRunner(RemoteA2aAgent("remote", f"{url}/.well-known/agent-card.json"), app_name="peer")
    session = await runner.session_service.create_session(app_name="peer", user_id="user")
    reply = ""
    async for event in runner.run_async(user_id="user", session_id=session.id, new_message=UserContent(text)):
        if event.error_message:
            raise RuntimeError(event.error_message)
        if event.is_final_response() and event.content:
            reply = "".join(part.text or "" for part in event.content.parts)
    print("reply:", json.dumps(reply))


class Scripted(BaseLlm):
    async def generate_content_async(self, llm_request, stream=False):
        def response(text, partial):
            return LlmResponse(content=Content(role="model", parts=[Part(text=text)]), partial=partial)

        if stream:
            for chunk in CHUNKS:
                yield response(chunk, True)
        yield response("".join(CHUNKS), False)


def agent(port):
    app = to_a2a(LlmAgent(name="answering", model=Scripted(model="scripted")), host="127.0.0.1", port=int(port))
    uvicorn.run(app, port=int(port))


match sys.argv[1:]:
    case ["client", url, text]:
        asyncio.run(client(url, text))
    case ["agent", port]:
        agent(port)
