# /// script
# dependencies = ["strands-agents[a2a,openai]==1.62.0"]
# ///
"""Strands: `client <url> <text>` prints the reply as JSON, `agent <port>` serves an agent."""

import json
import sys

from strands import Agent
from strands.agent.a2a_agent import A2AAgent
from strands.models.openai import OpenAIModel
from strands.multiagent.a2a import A2AServer


def agent(context):
    model = OpenAIModel(model_id="scripted")
    return Agent(name="Strands", description="Answers.", model=model, callback_handler=None)


match sys.argv[1:]:
    case ["client", url, text]:
        # str() of the result puts each part on a line of its own.
        print("reply:", json.dumps("".join(part["text"] for part in A2AAgent(url)(text).message["content"])))
    case ["agent", port]:
        A2AServer(agent_factory=agent, port=int(port)).serve()
