# /// script
# dependencies = ["beeai-framework[a2a]==0.1.85", "mcp==2.3.0"]
# ///
"""BeeAI: `client <url> <text>` prints the reply as JSON, `agent <port>` serves an agent."""

import asyncio
import json
import sys

from beeai_framework.adapters.a2a.agents import A2AAgent
from beeai_framework.adapters.a2a.serve.server import A2AServer, A2AServerConfig
from beeai_framework.adapters.openai import OpenAIChatModel
from beeai_framework.agents.requirement import RequirementAgent
from beeai_framework.memory import UnconstrainedMemory


async def client(url, text):
    output = await A2AAgent(url=url, memory=UnconstrainedMemory()).run(text)
    print("reply:", json.dumps(output.last_message.text))


def agent(port):
    answering = RequirementAgent(llm=OpenAIChatModel("scripted"), memory=UnconstrainedMemory())
    A2AServer(config=A2AServerConfig(host="127.0.0.1", port=int(port))).register(answering).serve()


match sys.argv[1:]:
    case ["client", url, text]:
        asyncio.run(client(url, text))
    case ["agent", port]:
        agent(port)
