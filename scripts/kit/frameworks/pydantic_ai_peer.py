# /// script
# dependencies = ["pydantic-ai-slim[openai]==2.66.0", "fasta2a[pydantic-ai]==2.1.1", "uvicorn==0.54.0"]
# ///
"""Pydantic AI: `agent <port>` serves an agent. It has no A2A client."""

import sys

import uvicorn
from fasta2a.pydantic_ai import agent_to_a2a
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel

port = sys.argv[2]
app = agent_to_a2a(Agent(OpenAIChatModel("scripted")), url=f"http://127.0.0.1:{port}")
uvicorn.run(app, port=int(port))
