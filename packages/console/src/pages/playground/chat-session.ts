/**
 * A conversation with one agent: its logged tasks and the current exchange. The stream of an answer reconnects after the hub was
 * unreachable, and a reloaded page continues with the task that its address names.
 */
import { newestVersion } from '@parley/a2a/internal'
import { signal, type ReadonlySignal } from '@preact/signals'
import { isTerminal, newId, type Json, type Message, type Part } from '@parley/a2a'
import type { EventStream } from '@parley/a2a/client'
import { connectionStatus, subscribeToChanges, type Change } from '../../api/change-feed.ts'
import { callAdmin } from '../../api/admin-client.ts'
import { Problem } from '../../api/problem.ts'
import { hasSessionEnded } from '../../api/session-state.ts'
import { announce } from '../../app/announce.ts'
import { redactSecrets } from '../../conversation/question/build-answer.ts'
import { applyEvents, fromStreamEvent, isWorkingState, withPendingMessage } from '../../conversation/transcript.ts'
import type { TranscriptEvent } from '../../conversation/transcript.ts'
import { taskStateDisplay } from '../../components/status/task-state.tsx'
import { oncePerFrame } from './once-per-frame.ts'
import { errorCodeOf, clientProblem, type AgentConnections, type ProtocolChoice } from './agent-connections.ts'
import { isOutput, type SeenTimes } from './chat-timing.ts'
import { createConversationTasks, loadContext, loadTask, type ConversationTask } from './conversation-tasks.ts'
import { createSteering, type SteerOptions } from './steer-task.ts'

/** The position in the conversation; both are `undefined` before it starts. */
export interface ChatLocation {
  readonly contextId: string | undefined
  readonly taskId: string | undefined
}

export type ChatStep = 'send' | 'steer' | 'follow' | 'load' | 'cancel'

export interface ChatFailure {
  readonly step: ChatStep
  readonly problem: Problem
  /** Repeats the request, if that is safe. */
  readonly retry: (() => void) | undefined
  /** The hub was unreachable; the client retries automatically. */
  readonly isTransient: boolean
}

export interface SendOptions extends ProtocolChoice {
  readonly isStreamed: boolean
  /** The task to continue. */
  readonly taskId: string | undefined
  /** Values of the message that must not be shown. */
  readonly secrets?: readonly Json[]
  /** The session ended before the message was accepted. */
  readonly onSessionEnded?: () => void
}

export type ChatPhase = 'still' | 'loading' | 'sending' | 'following'

export interface ChatSession {
  readonly tasks: ReadonlySignal<readonly ConversationTask[]>
  readonly location: ReadonlySignal<ChatLocation>
  readonly phase: ReadonlySignal<ChatPhase>
  readonly failure: ReadonlySignal<ChatFailure | undefined>
  readonly hasEarlier: ReadonlySignal<boolean>
  /** Times of the requests of this page, by the key of their task. */
  readonly times: ReadonlySignal<ReadonlyMap<string, SeenTimes>>
  open(place: ChatLocation, way: ProtocolChoice): void
  send(parts: readonly Part[], how: SendOptions): void
  /** Sends a message to the task that is being worked on; its stream continues. */
  steer(taskId: string, parts: readonly Part[], how: SteerOptions): void
  cancel(way: ProtocolChoice): Promise<void>
  loadEarlier(): void
  close(): void
}

const tasksPerPage = 20
const operations: Readonly<Record<ChatStep, string>> = {
  send: 'SendMessage',
  steer: 'SendMessage',
  follow: 'SubscribeToTask',
  load: 'the conversation',
  cancel: 'CancelTask',
}
const transientCodes = /^(UNAVAILABLE|INTERRUPTED|TIMEOUT)$/

export function createChatSession(
  name: string,
  connections: AgentConnections,
  currentCaller: () => string,
): ChatSession {
  const slots = createConversationTasks(currentCaller)
  const place = signal<ChatLocation>({ contextId: undefined, taskId: undefined })
  const phase = signal<ChatPhase>('still')
  const trouble = signal<ChatFailure | undefined>(undefined)
  const hasEarlier = signal(false)
  const times = signal<ReadonlyMap<string, SeenTimes>>(new Map())
  let most = tasksPerPage
  /** Aborts the current work: a stream or a load. */
  let current = new AbortController()
  const closing = new AbortController()
  let way: ProtocolChoice = { version: newestVersion, binding: 'JSONRPC' }
  let refreshTimer: ReturnType<typeof setTimeout> | undefined

  function begin(next: ChatPhase): AbortSignal {
    current.abort()
    current = new AbortController()
    trouble.value = undefined
    phase.value = next
    return current.signal
  }

  function fail(step: ChatStep, reason: unknown, retry: (() => void) | undefined): void {
    const isTransient = transientCodes.test(errorCodeOf(reason)) && step !== 'cancel' && step !== 'steer'
    trouble.value = { step, problem: clientProblem(reason, operations[step]), retry, isTransient }
  }

  function setTimes(key: string, change: Partial<SeenTimes>): void {
    const known = times.peek().get(key) ?? { sentAt: Date.now(), firstOutputAt: undefined, endedAt: undefined }
    times.value = new Map(times.peek()).set(key, { ...known, ...change })
  }

  const steer = createSteering({
    agent: name,
    connections,
    tasks: slots,
    signal: closing.signal,
    onFailure: (reason, again) => fail('steer', reason, again),
  })

  /** Runs `work` until it ends or other work begins. */
  async function attempt(
    next: ChatPhase,
    step: ChatStep,
    work: (signal: AbortSignal) => Promise<void>,
    again?: () => void,
  ): Promise<void> {
    const signal = begin(next)
    try {
      await work(signal)
    } catch (reason) {
      if (signal.aborted) return
      // If the session has ended, this call marks it as signed out.
      if (errorCodeOf(reason) === 'UNAUTHENTICATED') void callAdmin('getSession').catch(() => {})
      fail(step, reason, again)
    }
    if (!signal.aborted) phase.value = 'still'
  }

  function load({ contextId, taskId }: ChatLocation): void {
    const again = (): void => load({ contextId, taskId })
    void attempt(
      'loading',
      'load',
      async (signal) => {
        const first = contextId === undefined && taskId !== undefined ? await loadTask(taskId, signal) : undefined
        if (first !== undefined && first.agent !== name) {
          throw new Problem(`This task belongs to ${first.agent}.`, {
            code: 'NOT_FOUND',
            request: `task ${taskId}`,
          })
        }
        const context = contextId ?? first?.transcript.contextId
        if (context === undefined) return slots.replace([])
        const { loaded, hasMore } = await loadContext(name, context, most, signal, first)
        if (signal.aborted) return
        slots.replace(loaded)
        hasEarlier.value = hasMore
        place.value = { contextId: context, taskId }
        signal.throwIfAborted()
        resumeStream()
      },
      again,
    )
  }

  /** Resumes the stream of the task in progress. */
  function resumeStream(): void {
    const slot = slots.find(place.peek().taskId) ?? slots.list.peek().at(-1)
    if (
      slot?.transcript.taskId === undefined ||
      slot.otherCaller !== undefined ||
      !isWorkingState(slot.transcript.state)
    )
      return
    const { taskId, head } = slot.transcript
    void attempt(
      'following',
      'follow',
      async (signal) => {
        const agent = await connections.connect(name, way)
        const after = head > 0 ? { lastEventId: String(head) } : {}
        await follow(slot.key, agent.subscribe(taskId, { signal, ...after }), signal)
      },
      resumeStream,
    )
  }

  async function follow(key: string, stream: EventStream, signal: AbortSignal, onFirst?: () => void): Promise<void> {
    let queue: TranscriptEvent[] = []
    const show = (): void => {
      const events = queue
      queue = []
      if (events.length > 0 && !signal.aborted) applyToTask(key, events)
    }
    const showSoon = oncePerFrame(show)
    try {
      for await (const { event, id } of stream.frames()) {
        onFirst?.()
        if (isOutput(event) && times.peek().get(key)?.firstOutputAt === undefined)
          setTimes(key, { firstOutputAt: Date.now() })
        if (phase.peek() === 'sending' && !signal.aborted) phase.value = 'following'
        const seq = id === undefined || Number.isNaN(Number(id)) ? undefined : Number(id)
        queue.push(fromStreamEvent(event, seq))
        showSoon()
      }
    } finally {
      show()
    }
    setTimes(key, { endedAt: Date.now() })
    const state = slots.get(key)?.transcript.state
    if (signal.aborted || state === undefined) return
    announce(`${name}: ${taskStateDisplay(state).word}`)
    const taskId = slots.get(key)?.transcript.taskId
    if (taskId === undefined || isWorkingState(state)) return
    // An answer to its question begins other work, which aborts the reading.
    void readLog(taskId, isTerminal(state) ? closing.signal : signal)
  }

  /**
   * Only the log has the order and the times of the events, and when the task began, and so its duration. Errors are ignored:
   * everything else is shown without it.
   */
  async function readLog(taskId: string, signal: AbortSignal): Promise<void> {
    const loaded = await loadTask(taskId, signal).catch(() => undefined)
    if (loaded !== undefined && !signal.aborted && slots.find(taskId) !== undefined) slots.refresh(loaded)
  }

  function applyToTask(key: string, events: readonly TranscriptEvent[]): void {
    const { taskId, contextId } = slots.update(key, (talk) => applyEvents(talk, events))
    const known = place.peek()
    const next = { contextId: contextId ?? known.contextId, taskId: taskId ?? known.taskId }
    if (next.contextId !== known.contextId || next.taskId !== known.taskId) place.value = next
  }

  function send(parts: readonly Part[], how: SendOptions): void {
    const { contextId } = place.peek()
    const message: Message = {
      messageId: newId(),
      role: 'ROLE_USER',
      parts,
      ...(contextId === undefined ? {} : { contextId }),
      ...(how.taskId === undefined ? {} : { taskId: how.taskId }),
    }
    way = how
    post(slots.find(how.taskId)?.key ?? slots.addPending().key, message, how)
  }

  function post(key: string, message: Message, how: SendOptions): void {
    const { secrets = [], isStreamed } = how
    const shown = { ...message, parts: redactSecrets(message.parts as unknown as Json, secrets) as unknown as Part[] }
    slots.update(key, (talk) => withPendingMessage(talk, shown, Date.now()))
    setTimes(key, { sentAt: Date.now(), firstOutputAt: undefined, endedAt: undefined })
    // The same id is the same message, so a retry is safe. A message with a secret is not kept for a retry.
    const again = secrets.length > 0 ? undefined : () => post(key, message, how)
    void attempt(
      'sending',
      'send',
      async (signal) => {
        const agent = await connections.connect(name, how)
        const show = connections.hideSecrets(secrets)
        let isAccepted = false
        const onFirst = (): void => {
          isAccepted = true
          show()
        }
        try {
          if (isStreamed) return await follow(key, agent.stream(message, { signal }), signal, onFirst)
          applyResponse(key, await agent.send(message, { signal }), signal)
        } catch (reason) {
          const hasEnded = errorCodeOf(reason) === 'UNAUTHENTICATED' || hasSessionEnded.peek()
          if (hasEnded && !isAccepted) how.onSessionEnded?.()
          throw reason
        } finally {
          show()
        }
      },
      again,
    )
  }

  /** The log is read while the user may answer already; an answer begins other work and aborts that. */
  function applyResponse(
    key: string,
    answer: Awaited<ReturnType<Awaited<ReturnType<AgentConnections['connect']>>['send']>>,
    signal: AbortSignal,
  ): void {
    const { kind, ...message } = answer
    const event = kind === 'task' ? { task: answer } : { message: message as Message }
    applyToTask(key, [fromStreamEvent(event, undefined)])
    if (kind === 'task') void readLog(answer.id, signal)
  }

  async function cancel(how: ProtocolChoice): Promise<void> {
    const slot = slots.find(place.peek().taskId) ?? slots.list.peek().at(-1)
    const taskId = slot?.transcript.taskId
    if (slot === undefined || taskId === undefined) {
      current.abort()
      phase.value = 'still'
      return
    }
    try {
      const agent = await connections.connect(name, how)
      const task = await agent.cancel(taskId)
      // While a stream is open, it brings these events.
      if (phase.peek() === 'still') applyToTask(slot.key, [fromStreamEvent({ task }, undefined)])
    } catch (reason) {
      fail('cancel', reason, undefined)
    }
  }

  function scheduleRefresh(): void {
    clearTimeout(refreshTimer)
    refreshTimer = setTimeout(() => void refresh(), 150)
  }

  /** Refreshes silently: on failure the current content stays. */
  async function refresh(): Promise<void> {
    const { contextId } = place.peek()
    if (contextId === undefined || phase.peek() !== 'still') return
    const { signal } = current
    try {
      const { loaded, hasMore } = await loadContext(name, contextId, most, signal)
      if (signal.aborted || phase.peek() !== 'still') return
      slots.replace(loaded)
      hasEarlier.value = hasMore
      if (trouble.peek() === undefined) resumeStream()
    } catch {
      // The next change refreshes again.
    }
  }

  /** Handles changes that other clients, or the agent itself, made in this conversation. */
  function onHubChange(change: Change): void {
    if (place.peek().contextId === undefined || phase.peek() !== 'still') return
    if (change.type === 'reset' || change.type === 'tasks') return scheduleRefresh()
    if (change.type !== 'task' || change.task.contextId !== place.peek().contextId) return
    if (change.task.agent !== name) return
    const known = slots.find(change.task.id)
    if (known === undefined || (known.transcript.head < change.task.head && !isTerminal(known.transcript.state)))
      scheduleRefresh()
  }
  const unsubscribeChanges = subscribeToChanges(onHubChange)
  const unsubscribeStatus = connectionStatus.subscribe((now) => {
    const { retry, isTransient = false } = trouble.peek() ?? {}
    if (now === 'live' && isTransient) retry?.()
  })

  return {
    tasks: slots.list,
    location: place,
    phase,
    failure: trouble,
    hasEarlier,
    times,
    steer,
    open(next, how) {
      way = how
      const known = place.peek()
      if (next.contextId === known.contextId && next.taskId === known.taskId) return
      if (next.contextId !== undefined && next.contextId === known.contextId) {
        // Another task of the shown conversation, or a new one.
        place.value = next
        if (next.taskId === undefined || slots.find(next.taskId) !== undefined) return
      }
      most = tasksPerPage
      place.value = next
      if (next.contextId !== undefined || next.taskId !== undefined) return load(next)
      begin('still')
      slots.replace([])
    },
    send,
    cancel,
    loadEarlier() {
      most += tasksPerPage
      load(place.peek())
    },
    close() {
      unsubscribeChanges()
      unsubscribeStatus()
      clearTimeout(refreshTimer)
      current.abort()
      closing.abort()
    },
  }
}
