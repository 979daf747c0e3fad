# /// script
# dependencies = ["langgraph==1.2.22", "langgraph-api==0.16.7", "langgraph-runtime-inmem==0.36.7", "langchain-openai==1.7.3"]
# ///
"""LangGraph: `agent <port>` serves a graph by the in-memory server. It has no A2A client."""

import os
import sys
import tempfile

from langchain_openai import ChatOpenAI
from langgraph.graph import START, MessagesState, StateGraph


async def answer(state: MessagesState):
    return {"messages": [await ChatOpenAI(model="scripted").ainvoke(state["messages"])]}


graph = StateGraph(MessagesState).add_node(answer).add_edge(START, "answer").compile()

if __name__ == "__main__":
    from langgraph_api.cli import run_server

    program = os.path.abspath(__file__)
    os.chdir(tempfile.mkdtemp())
    os.environ["LANGSMITH_TRACING"] = "false"
    run_server(port=int(sys.argv[2]), graphs={"agent": f"{program}:graph"})
