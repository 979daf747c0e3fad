"""a2a-sdk from PyPI as its documentation sets it up: Starlette, uvicorn, and the task store in memory or in SQLite.

It speaks the control channel of child-process.ts: lines of JSON on the socket that Node passes in NODE_CHANNEL_FD.
"""

import asyncio
import gc
import json
import os
import re
import resource
import socket
import sys
import uuid

import uvicorn
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_jsonrpc_routes
from a2a.server.tasks import DatabaseTaskStore, InMemoryTaskStore, TaskUpdater
from a2a.types.a2a_pb2 import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    AgentSkill,
    Message,
    Part,
    Role,
    Task,
    TaskState,
    TaskStatus,
)
from starlette.applications import Starlette

directory = sys.argv[1]
settings = json.loads(sys.argv[2])


def workload_text(name: str) -> str:
    """A text of workload.ts, so that all contestants send the same."""
    path = os.path.join(os.path.dirname(__file__), '../workload.ts')
    with open(path, encoding='utf8') as file:
        source = file.read()
    body = re.search(rf'export const {name} =\n((?:  .*\n)+)', source)
    return ''.join(re.findall(r"'([^']*)'", body[1]))


answer = workload_text('answer')


def chunk_text(index: int) -> str:
    return f'{index:06d} and so it went on '


async def open_task(context, queue) -> TaskUpdater:
    task = Task(
        id=context.task_id,
        context_id=context.context_id,
        status=TaskStatus(state=TaskState.TASK_STATE_SUBMITTED),
        history=[context.message],
    )
    await queue.enqueue_event(task)
    updater = TaskUpdater(queue, context.task_id, context.context_id)
    await updater.start_work()
    return updater


async def message(context, queue) -> None:
    reply = Message(
        message_id=str(uuid.uuid4()),
        context_id=context.context_id,
        role=Role.ROLE_AGENT,
        parts=[Part(text=answer)],
    )
    await queue.enqueue_event(reply)


async def task(context, queue) -> None:
    updater = await open_task(context, queue)
    await updater.add_artifact([Part(text=answer)], artifact_id='answer')
    await updater.complete()


async def stream(context, queue) -> None:
    count = int(context.get_user_input())
    updater = await open_task(context, queue)
    for index in range(count):
        await updater.add_artifact(
            [Part(text=chunk_text(index))],
            artifact_id='answer',
            append=index > 0,
            last_chunk=index == count - 1,
        )
    await updater.complete()


class BenchExecutor(AgentExecutor):
    def __init__(self, run):
        self.run = run

    async def execute(self, context, event_queue):
        await self.run(context, event_queue)

    async def cancel(self, context, event_queue):
        raise NotImplementedError


async def open_store():
    if settings.get('store') != 'sqlite':
        return InMemoryTaskStore()
    from sqlalchemy import event
    from sqlalchemy.ext.asyncio import create_async_engine

    # One connection: with several, writers wait for the lock of SQLite and fail with "database is locked" under 32 streams.
    url = f'sqlite+aiosqlite:///{directory}/tasks.db'
    engine = create_async_engine(url, pool_size=1, max_overflow=0, pool_timeout=600)

    @event.listens_for(engine.sync_engine, 'connect')
    def sync_commits(connection, _):
        cursor = connection.cursor()
        cursor.execute('PRAGMA journal_mode = WAL')
        cursor.execute('PRAGMA synchronous = FULL')
        cursor.close()

    store = DatabaseTaskStore(engine)
    await store.initialize()
    return store


def card(name: str) -> AgentCard:
    url = f'http://127.0.0.1/a2a/{name}'
    return AgentCard(
        name=name,
        description='A contestant',
        version='1.0.0',
        supported_interfaces=[AgentInterface(url=url, protocol_binding='JSONRPC', protocol_version='1.0')],
        capabilities=AgentCapabilities(streaming=True),
        default_input_modes=['text/plain'],
        default_output_modes=['text/plain'],
        skills=[AgentSkill(id=name, name=name, description='Answers', tags=['bench'])],
    )


def usage(collect: bool) -> dict:
    if collect:
        gc.collect()
    spent = resource.getrusage(resource.RUSAGE_SELF)
    with open('/proc/self/statm', encoding='ascii') as file:
        rss = int(file.read().split()[1]) * resource.getpagesize()
    cpu = (spent.ru_utime + spent.ru_stime) * 1e6
    return {'usage': {'rss': rss, 'maxRss': spent.ru_maxrss * 1024, 'cpuMicros': cpu}}


async def control(port: int) -> None:
    channel = socket.socket(fileno=int(os.environ['NODE_CHANNEL_FD']))
    channel.setblocking(False)
    reader, writer = await asyncio.open_unix_connection(sock=channel)

    def say(word: dict) -> None:
        writer.write(json.dumps(word).encode() + b'\n')

    say({'port': port})
    while line := await reader.readline():
        order = json.loads(line)
        if order.get('order') == 'usage':
            say(usage(order['collect']))
        elif order.get('order') == 'close':
            break
    os._exit(0)


async def main() -> None:
    store = await open_store()
    routes = []
    for name, run in {'message': message, 'task': task, 'stream': stream}.items():
        handler = DefaultRequestHandler(BenchExecutor(run), store, card(name))
        routes += create_jsonrpc_routes(handler, f'/a2a/{name}')
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(('127.0.0.1', 0))
    config = uvicorn.Config(Starlette(routes=routes), log_level='error', timeout_keep_alive=60)
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    while not server.started:
        await asyncio.sleep(0.01)
    await asyncio.gather(serving, control(listener.getsockname()[1]))


asyncio.run(main())
