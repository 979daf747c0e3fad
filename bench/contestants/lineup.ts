/** The contestants: what each is, the program that runs it, and where it keeps its tasks. */
import type { ServerSettings } from './child-process.ts'

export const contestantNames = [
  'parley',
  'parley-normal',
  'parley-memory',
  'parley-postgres',
  'hub',
  'hub-memory',
  'a2a-js',
  'a2a-js-sqlite',
  'a2a-js-postgres',
  'a2a-python',
  'a2a-python-sqlite',
  'dbos',
  'bare',
  'bare-grpc',
] as const
/** `before` is `parley` of another checkout, for `--against`. */
export type ContestantName = (typeof contestantNames)[number] | 'before'

export interface ContestantEntry {
  /** The head of its column. */
  readonly title: string
  /** For readers of the tables. */
  readonly about: string
  /** The file in this folder that runs it. Missing: its measure starts it. */
  readonly program?: string
  readonly store?: ServerSettings['store']
  /** Runs our code: it can write a CPU profile. */
  readonly isOurs?: true
  /** Only with `--peers`. */
  readonly isPeer?: true
}

export const lineup: Readonly<Record<ContestantName, ContestantEntry>> = {
  parley: {
    title: 'parley',
    about: 'Parley SDK, `serve()` with SQLite and durability `full`: every event is on disk before it is sent',
    program: 'parley.ts',
    store: 'sqlite',
    isOurs: true,
  },
  'parley-normal': {
    title: 'parley, normal',
    about: 'the same with durability `normal`: survives `kill -9`, not a power loss',
    program: 'parley.ts',
    store: 'sqlite-normal',
    isOurs: true,
  },
  'parley-memory': {
    title: 'parley, memory',
    about: 'the same with `memoryStore()`',
    program: 'parley.ts',
    store: 'memory',
    isOurs: true,
  },
  'parley-postgres': {
    title: 'parley, postgres',
    about: 'the same with `postgresStore()`, one replica',
    program: 'parley.ts',
    store: 'postgres',
    isOurs: true,
  },
  hub: {
    title: 'parley hub',
    about: 'the hub as `parley` starts it, SQLite and durability `full`, with traces, audit, limits and metrics on',
    program: 'hub.ts',
    store: 'sqlite',
    isOurs: true,
  },
  'hub-memory': {
    title: 'hub, memory',
    about: 'the hub with `store: memory:`, for the cost of a hop without the commits of the hub',
    program: 'hub.ts',
    store: 'memory',
    isOurs: true,
  },
  'a2a-js': {
    title: '@a2a-js/sdk',
    about: '`@a2a-js/sdk` 1.3.0 with Express and its task store in memory, as documented; `rival` in the JSON',
    program: 'a2a-js.ts',
    store: 'memory',
  },
  'a2a-js-sqlite': {
    title: '@a2a-js/sdk, SQLite',
    about: 'the same with its `DatabaseTaskStore` (Kysely) on node:sqlite, WAL and `synchronous=FULL`',
    program: 'a2a-js.ts',
    store: 'sqlite',
  },
  'a2a-js-postgres': {
    title: '@a2a-js/sdk, postgres',
    about: 'the same store on the same PostgreSQL',
    program: 'a2a-js.ts',
    store: 'postgres',
  },
  'a2a-python': {
    title: 'a2a-python',
    about: '`a2a-sdk` from PyPI with Starlette, uvicorn and its task store in memory (`--peers`)',
    program: 'a2a_python.py',
    store: 'memory',
    isPeer: true,
  },
  'a2a-python-sqlite': {
    title: 'a2a-python, SQLite',
    about: 'the same with its `DatabaseTaskStore` (SQLAlchemy, aiosqlite) and `synchronous=FULL` (`--peers`)',
    program: 'a2a_python.py',
    store: 'sqlite',
    isPeer: true,
  },
  dbos: { title: 'DBOS', about: '`@dbos-inc/dbos-sdk`: a durable workflow of the same four steps' },
  bare: {
    title: 'node:http',
    about: 'the limit: no framework, no protocol, no state; writes an answer of the same shape; `limit` in the JSON',
    program: 'bare.ts',
  },
  'bare-grpc': {
    title: 'grpc-js',
    about: 'the limit for gRPC: `@grpc/grpc-js` alone, which streams events of the same shape',
    program: 'bare-grpc.ts',
  },
  before: { title: 'before', about: '`parley` of another checkout', program: 'parley.ts', store: 'sqlite' },
}

export const needsPostgres = (name: ContestantName): boolean => lineup[name].store === 'postgres'
/** Whether its tasks survive the end of its process. */
export const keepsTasks = (name: ContestantName): boolean =>
  lineup[name].store !== undefined && lineup[name].store !== 'memory'
