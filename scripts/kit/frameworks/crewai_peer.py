# /// script
# dependencies = ["crewai[a2a]==1.15.30", "uvicorn==0.54.0"]
# ///
"""CrewAI: `client <url> <text>` prints the reply as JSON, `agent <port>` serves an agent."""

import json
import os
import sys

os.environ["CREWAI_DISABLE_TELEMETRY"] = os.environ["OTEL_SDK_DISABLED"] = "true"

import uvicorn
from a2a.server.agent_execution import AgentExecutor
from a2a.server.apps import A2AStarletteApplication
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.tasks import InMemoryTaskStore
from crewai import Agent, LLM
from crewai.a2a import A2AClientConfig, A2AServerConfig
from crewai.a2a.utils import task


def crew_agent(a2a):
    return Agent(role="Answering", goal="Answer", backstory="You answer.", llm=LLM(model="gpt-4o"), a2a=a2a)


def client(url, text):
    config = A2AClientConfig(endpoint=f"{url}/.well-known/agent-card.json", trust_remote_completion_status=True)
    print("reply:", json.dumps(crew_agent(config).kickoff(text).raw))


class Executor(AgentExecutor):
    def __init__(self, agent):
        self.agent = agent

    async def execute(self, context, event_queue):
        await task.execute(self.agent, context, event_queue)

    async def cancel(self, context, event_queue):
        await task.cancel(context, event_queue)


def agent(port):
    served = crew_agent(A2AServerConfig())
    handler = DefaultRequestHandler(Executor(served), InMemoryTaskStore())
    card = served.to_agent_card(f"http://127.0.0.1:{port}")
    uvicorn.run(A2AStarletteApplication(card, handler).build(), port=int(port))


match sys.argv[1:]:
    case ["client", url, text]:
        client(url, text)
    case ["agent", port]:
        agent(port)
