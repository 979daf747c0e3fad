/**
 * Inbound tasks: each is a task of an engine with a memory store, and its agent is the session that a process manager runs for
 * it. The engine keeps the deadline and the log; `session-task.ts` keeps the view for the callers of these functions.
 */
import type { Turn } from '../agents/agent.ts'
import { A2AError } from '../model/error.ts'
import { newId } from '../model/id.ts'
import { createHandler, type Handler } from '../server/handler.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import type { A2ATask, A2ATaskSendRequest, TaskSend } from '../versions/simple-tasks.ts'
import { messageOfTaskSend, readTaskSend } from '../versions/simple-tasks.ts'
import { NotFoundError, ValidationError } from './errors.ts'
import { createSessionTask, type SessionTask } from './session-task.ts'

/** An agent that sessions are opened for. */
export interface A2AAgent {
  readonly id: string
  readonly name?: string
  /** Agents without one accept no tasks. */
  readonly defaultProjectId?: string | null
}

/** A session as the database created it. Its id is the context of the task. */
export interface A2ASession {
  readonly id: string
}

/** The arguments for opening a session. */
export interface A2ASessionInput {
  readonly projectId: string
  readonly agentId: string
  readonly name: string
  readonly initialPrompt: string
  readonly source: 'agent'
}

/** Called with every event of a session: `assistant`, `session_exited`, `session_stopped`, `error`; others are ignored. */
export type A2ASessionListener = (sessionId: string, event: unknown) => void

/** Runs sessions, and reports their events. */
export interface A2AProcessManager {
  subscribe(sessionId: string, listener: A2ASessionListener): unknown
  unsubscribe?(sessionId: string, listener: A2ASessionListener): unknown
  // oxlint-disable-next-line typescript/no-explicit-any -- a manager takes its own sessions, which have more than an id
  startProcess(session: any, prompt: string): unknown
}

/**
 * The dependencies of `handleTaskSend`. Without `listAgents` and `createSession`, `db` must have methods with these names; they
 * are then called without the `db` argument.
 */
// oxlint-disable-next-line typescript/no-explicit-any -- whatever database the program has
export interface A2ATaskDeps<Db = any> {
  readonly db: Db
  readonly processManager: A2AProcessManager
  readonly listAgents?: (db: Db) => readonly A2AAgent[]
  readonly createSession?: (db: Db, input: A2ASessionInput) => A2ASession
}

/** Above this number finished tasks are removed, oldest first, this many at a time (S0-18); active ones stay (S0-19). */
const maxTasks = 1_000
const pruneBatch = 100

interface TaskStore {
  readonly handler: Handler
  readonly tasks: Map<string, SessionTask>
}

const agentName = 'sessions'
const caller = { id: 'simple-tasks' }
let store: TaskStore | undefined

/**
 * Accepts a task: opens a session for the first agent that has a `defaultProjectId`, starts its process and returns the task,
 * which is working by then. The returned object is changed in place as the session continues; `handleTaskGet` returns the same
 * object. If the process manager throws or rejects, the task fails, as after its `error` event. Throws `ValidationError` for a
 * body that is not a submission, and `NotFoundError` if no agent accepts tasks.
 *
 * @example
 * ```ts
 * const task = handleTaskSend({ db, processManager, listAgents, createSession }, { message: 'Hello' })
 * ```
 */
export function handleTaskSend(deps: A2ATaskDeps, body: A2ATaskSendRequest | A2ATaskSendRequest['params']): A2ATask {
  const submitted = readBody(body)
  const { listAgents, createSession } = functionsOf(deps)
  const agent = listAgents().find(({ defaultProjectId }) => defaultProjectId)
  if (agent === undefined) throw new NotFoundError('Agent with default project')
  const { processManager } = deps
  const listener: A2ASessionListener = (_sessionId, event) => task.handleEvent(event)
  let subscribed: unknown
  const unsubscribe = (): unknown => processManager.unsubscribe?.(session.id, listener)
  const task = createSessionTask({
    id: newId(),
    message: messageOfTaskSend(submitted),
    now: Date.now,
    // Once the task has ended, a listener that cannot be removed does no harm: it ignores all events.
    onEnd: () =>
      attempt(
        () => (isThenable(subscribed) ? subscribed.then(unsubscribe, unsubscribe) : unsubscribe()),
        () => {},
      ),
  })
  const prompt = submitted.texts.join('\n')
  const session = createSession({
    projectId: agent.defaultProjectId as string,
    agentId: agent.id,
    name: `A2A Task: ${prompt.slice(0, 50)}`,
    initialPrompt: prompt,
    source: 'agent',
  })
  task.begin(session.id)
  const fail = (error: unknown): void => task.handleEvent({ type: 'error', error })
  attempt(() => (subscribed = processManager.subscribe(session.id, listener)), fail)
  if (!task.isEnded) attempt(() => processManager.startProcess(session, prompt), fail)
  run(task, submitted.timeoutMs)
  return task.view
}

/** Returns the task with this id, the same object that `handleTaskSend` returned, or `null`. */
export function handleTaskGet(taskId: string): A2ATask | null {
  return store?.tasks.get(taskId)?.view ?? null
}

/** Removes all tasks. Their sessions continue without a deadline. */
export function clearTaskStore(): void {
  const last = store
  store = undefined
  // First, so that closing the engine does not fail the removed tasks.
  last?.tasks.clear()
  last?.handler.close().catch(() => {})
}

function readBody(body: unknown): TaskSend {
  try {
    return readTaskSend(body)
  } catch (reason) {
    const { message, details } = A2AError.from(reason)
    throw new ValidationError(message, details, { cause: reason })
  }
}

/** A database may have the functions itself. */
interface DatabaseFunctions {
  listAgents?(): readonly A2AAgent[]
  createSession?(input: A2ASessionInput): A2ASession
}

function functionsOf(deps: A2ATaskDeps<unknown>): Required<DatabaseFunctions> {
  const { db, listAgents, createSession } = deps
  const own = Object(db) as DatabaseFunctions
  const missing = (name: string): never => {
    throw new ValidationError(`${name} is required: pass it, or a db that contains it`)
  }
  return {
    listAgents: () => listAgents?.(db) ?? own.listAgents?.() ?? missing('listAgents'),
    createSession: (input) => createSession?.(db, input) ?? own.createSession?.(input) ?? missing('createSession'),
  }
}

/** Calls a function of the program, which may fail at once or, if it is asynchronous, later. */
function attempt(call: () => unknown, failed: (reason: unknown) => void): void {
  try {
    const result = call()
    if (isThenable(result)) result.then(undefined, failed)
  } catch (reason) {
    failed(reason)
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (Object(value) as Partial<PromiseLike<unknown>>).then === 'function'
}

/** The task is opened in the engine under the id that its caller has already received. */
function run(task: SessionTask, timeoutMs: number): void {
  const { handler, tasks } = (store ??= openStore())
  const { id } = task.view
  tasks.set(id, task)
  if (tasks.size > maxTasks) prune(tasks)
  handler.engine
    .sendMessage(
      { message: task.message, configuration: { returnImmediately: true } },
      {
        agent: agentName,
        tenant: '',
        caller,
        signal: new AbortController().signal,
        extensions: [],
        canListTasks: false,
        deadlineAt: Date.now() + timeoutMs,
        newTaskId: id,
      },
    )
    .catch((reason: unknown) => tasks.get(id)?.fail(A2AError.from(reason).message))
}

function openStore(): TaskStore {
  const tasks = new Map<string, SessionTask>()
  const agent = ({ task: { id }, signal }: Turn) => {
    signal.addEventListener('abort', () => tasks.get(id)?.fail(A2AError.from(signal.reason).message))
    return tasks.get(id)?.reports
  }
  const handler = createHandler({
    store: memoryStore({ maxTasks, pruneBatch }),
    // Each task has its own deadline.
    agents: { [agentName]: { agent, turnTimeoutMs: Infinity } },
    limits: { tasksPerCaller: Infinity },
  })
  return { handler, tasks }
}

function prune(tasks: Map<string, SessionTask>): void {
  const finished = [...tasks].filter(([, { isEnded }]) => isEnded).slice(0, pruneBatch)
  for (const [id] of finished) tasks.delete(id)
}
