/**
 * A conversation with one agent: what the log has of it, and what is said now. The stream of an answer goes on by itself after
 * the hub was away, and a page that is loaded again goes on with the task that its address names.
 */
import { signal } from '@preact/signals'
import type { ReadonlySignal } from '@preact/signals'
import { newId } from '@parley/a2a'
import type { Json, Message, Part } from '@parley/a2a'
import type { EventStream } from '@parley/a2a/client'
import { liveness, onChange } from '../../api/feed.ts'
import type { Change } from '../../api/feed.ts'
import { call } from '../../api/call.ts'
import { Problem } from '../../api/problem.ts'
import { announce } from '../../app/announce.ts'
import { concealed } from '../../conversation/question/answer-to.ts'
import { hear, heardFrom, isAtWork, isEnd, saying } from '../../conversation/talk.ts'
import type { Heard } from '../../conversation/talk.ts'
import { lookOf } from '../../parts/state.tsx'
import { nextFrame } from './next-frame.ts'
import { codeOf, troubleOf } from './reach.ts'
import type { Reach, Way } from './reach.ts'
import { createSlots } from './slots.ts'
import type { Slot } from './slots.ts'
import { loadContext, loadTask } from './talks.ts'

/** Where one is: neither is known of a conversation that has not begun. */
export interface Place {
  readonly contextId: string | undefined
  readonly taskId: string | undefined
}

export interface Trouble {
  readonly problem: Problem
  /** Tries the same once more, where that does no harm. */
  readonly again: (() => void) | undefined
  /** The hub was away: it is tried again by itself. */
  readonly isPassing: boolean
}

export interface Sending extends Way {
  readonly isStreamed: boolean
  /** The task that is gone on with. */
  readonly taskId: string | undefined
  /** What of it must not be seen. */
  readonly secrets?: readonly Json[]
}

export type Phase = 'still' | 'loading' | 'sending' | 'following'

export interface Play {
  readonly slots: ReadonlySignal<readonly Slot[]>
  readonly place: ReadonlySignal<Place>
  readonly phase: ReadonlySignal<Phase>
  readonly trouble: ReadonlySignal<Trouble | undefined>
  readonly hasEarlier: ReadonlySignal<boolean>
  open(place: Place, way: Way): void
  send(parts: readonly Part[], how: Sending): void
  cancel(way: Way): Promise<void>
  loadEarlier(): void
  close(): void
}

const firstTasks = 20
const passing = /^(UNAVAILABLE|INTERRUPTED|TIMEOUT)$/

export function createPlay(name: string, reach: Reach, me: () => string): Play {
  const slots = createSlots(me)
  const place = signal<Place>({ contextId: undefined, taskId: undefined })
  const phase = signal<Phase>('still')
  const trouble = signal<Trouble | undefined>(undefined)
  const hasEarlier = signal(false)
  let most = firstTasks
  /** Ends what is under way: a stream that is read, or what is being loaded. */
  let current = new AbortController()
  const closing = new AbortController()
  let way: Way = { version: '1.0', binding: 'JSONRPC' }
  let looking: ReturnType<typeof setTimeout> | undefined

  function begin(next: Phase): AbortSignal {
    current.abort()
    current = new AbortController()
    trouble.value = undefined
    phase.value = next
    return current.signal
  }

  /** Whatever is done while nobody has begun something else. */
  async function attempt(
    next: Phase,
    what: string,
    work: (signal: AbortSignal) => Promise<void>,
    again?: () => void,
  ): Promise<void> {
    const signal = begin(next)
    try {
      await work(signal)
    } catch (reason) {
      if (signal.aborted) return
      // It says so itself, if the session is over.
      if (codeOf(reason) === 'UNAUTHENTICATED') void call('getSession').catch(() => {})
      trouble.value = { problem: troubleOf(reason, what), again, isPassing: passing.test(codeOf(reason)) }
    }
    if (!signal.aborted) phase.value = 'still'
  }

  function load({ contextId, taskId }: Place): void {
    const again = (): void => load({ contextId, taskId })
    void attempt(
      'loading',
      'the conversation',
      async (signal) => {
        const first = contextId === undefined && taskId !== undefined ? await loadTask(taskId, signal) : undefined
        if (first !== undefined && first.agent !== name) {
          throw new Problem(`This task is one of ${first.agent}.`, { code: 'NOT_FOUND', request: `task ${taskId}` })
        }
        const context = contextId ?? first?.talk.contextId
        if (context === undefined) return slots.replace([])
        const { loaded, hasMore } = await loadContext(name, context, most, signal)
        if (signal.aborted) return
        slots.replace(loaded)
        hasEarlier.value = hasMore
        place.value = { contextId: context, taskId }
        signal.throwIfAborted()
        attach()
      },
      again,
    )
  }

  /** Goes on reading what is being answered. */
  function attach(): void {
    const slot = slots.find(place.peek().taskId) ?? slots.shown.peek().at(-1)
    if (slot?.talk.taskId === undefined || slot.stranger !== undefined || !isAtWork(slot.talk.state)) return
    const { taskId, head } = slot.talk
    void attempt(
      'following',
      'SubscribeToTask',
      async (signal) => {
        const agent = await reach.agent(name, way)
        const after = head > 0 ? { lastEventId: String(head) } : {}
        await follow(slot.key, agent.subscribe(taskId, { signal, ...after }), signal)
      },
      attach,
    )
  }

  async function follow(key: string, stream: EventStream, signal: AbortSignal, onFirst?: () => void): Promise<void> {
    let queue: Heard[] = []
    const show = (): void => {
      const told = queue
      queue = []
      if (told.length > 0 && !signal.aborted) take(key, told)
    }
    const showSoon = nextFrame(show)
    try {
      for await (const { event, id } of stream.frames()) {
        onFirst?.()
        if (phase.peek() === 'sending' && !signal.aborted) phase.value = 'following'
        const seq = id === undefined || Number.isNaN(Number(id)) ? undefined : Number(id)
        queue.push(heardFrom(event, seq, Date.now()))
        showSoon()
      }
    } finally {
      show()
    }
    const state = slots.get(key)?.talk.state
    if (signal.aborted || state === undefined) return
    announce(`${name}: ${lookOf(state).word}`)
    const taskId = slots.get(key)?.talk.taskId
    if (isEnd(state) && taskId !== undefined) void readLog(taskId)
  }

  /** The log alone knows when the task began, and so how long it took. Quietly: without it, all else is shown. */
  async function readLog(taskId: string): Promise<void> {
    const loaded = await loadTask(taskId, closing.signal).catch(() => undefined)
    if (loaded !== undefined && slots.find(taskId) !== undefined) slots.refresh(loaded)
  }

  function take(key: string, told: readonly Heard[]): void {
    const { taskId, contextId } = slots.change(key, (talk) => hear(talk, told))
    const known = place.peek()
    const next = { contextId: contextId ?? known.contextId, taskId: taskId ?? known.taskId }
    if (next.contextId !== known.contextId || next.taskId !== known.taskId) place.value = next
  }

  function send(parts: readonly Part[], how: Sending): void {
    const { contextId } = place.peek()
    const message: Message = {
      messageId: newId(),
      role: 'ROLE_USER',
      parts,
      ...(contextId === undefined ? {} : { contextId }),
      ...(how.taskId === undefined ? {} : { taskId: how.taskId }),
    }
    way = how
    post(slots.find(how.taskId)?.key ?? slots.begin().key, message, how)
  }

  function post(key: string, message: Message, how: Sending): void {
    const { secrets = [], isStreamed } = how
    const shown = { ...message, parts: concealed(message.parts as unknown as Json, secrets) as unknown as Part[] }
    slots.change(key, (talk) => saying(talk, shown, Date.now()))
    // The same id again is the same message; what is secret is not kept to be sent again.
    const again = secrets.length > 0 ? undefined : () => post(key, message, how)
    void attempt(
      'sending',
      isStreamed ? 'SendStreamingMessage' : 'SendMessage',
      async (signal) => {
        const agent = await reach.agent(name, how)
        const show = reach.hide(secrets)
        try {
          if (isStreamed) return await follow(key, agent.stream(message, { signal }), signal, show)
          await ask(key, await agent.send(message, { signal }))
        } finally {
          show()
        }
      },
      again,
    )
  }

  /** All at once: the log knows in which order it came about. */
  async function ask(
    key: string,
    answer: Awaited<ReturnType<Awaited<ReturnType<Reach['agent']>>['send']>>,
  ): Promise<void> {
    const { kind, ...told } = answer
    const event = kind === 'task' ? { task: answer } : { message: told as Message }
    take(key, [heardFrom(event, undefined, Date.now())])
    if (kind === 'task') slots.refresh(await loadTask(answer.id, current.signal))
  }

  async function cancel(how: Way): Promise<void> {
    const slot = slots.find(place.peek().taskId) ?? slots.shown.peek().at(-1)
    const taskId = slot?.talk.taskId
    if (slot === undefined || taskId === undefined) {
      current.abort()
      phase.value = 'still'
      return
    }
    try {
      const agent = await reach.agent(name, how)
      const task = await agent.cancel(taskId)
      // Who follows is told by the stream.
      if (phase.peek() === 'still') take(slot.key, [heardFrom({ task }, undefined, Date.now())])
    } catch (reason) {
      trouble.value = { problem: troubleOf(reason, 'CancelTask'), again: undefined, isPassing: false }
    }
  }

  function look(): void {
    clearTimeout(looking)
    looking = setTimeout(() => void refresh(), 150)
  }

  /** Quietly: what is shown stays, also if this fails. */
  async function refresh(): Promise<void> {
    const { contextId } = place.peek()
    if (contextId === undefined || phase.peek() !== 'still') return
    const { signal } = current
    try {
      const { loaded, hasMore } = await loadContext(name, contextId, most, signal)
      if (signal.aborted || phase.peek() !== 'still') return
      slots.replace(loaded)
      hasEarlier.value = hasMore
      if (trouble.peek() === undefined) attach()
    } catch {
      // Looked at again with the next change.
    }
  }

  /** What others did in this conversation, or the agent by itself. */
  function changed(change: Change): void {
    if (place.peek().contextId === undefined || phase.peek() !== 'still') return
    if (change.type === 'reset' || change.type === 'tasks') return look()
    if (change.type !== 'task' || change.task.contextId !== place.peek().contextId) return
    if (change.task.agent !== name) return
    const known = slots.find(change.task.id)
    if (known === undefined || (known.talk.head < change.task.head && !isEnd(known.talk.state))) look()
  }
  const stopHearing = onChange(changed)
  const stopWatching = liveness.subscribe((now) => {
    const { again, isPassing = false } = trouble.peek() ?? {}
    if (now === 'live' && isPassing) again?.()
  })

  return {
    slots: slots.shown,
    place,
    phase,
    trouble,
    hasEarlier,
    open(next, how) {
      way = how
      const known = place.peek()
      if (next.contextId === known.contextId && next.taskId === known.taskId) return
      if (next.contextId !== undefined && next.contextId === known.contextId) {
        // Another task of what is shown, or a new one.
        place.value = next
        if (next.taskId === undefined || slots.find(next.taskId) !== undefined) return
      }
      most = firstTasks
      place.value = next
      if (next.contextId !== undefined || next.taskId !== undefined) return load(next)
      begin('still')
      slots.replace([])
    },
    send,
    cancel,
    loadEarlier() {
      most += firstTasks
      load(place.peek())
    },
    close() {
      stopHearing()
      stopWatching()
      clearTimeout(looking)
      current.abort()
      closing.abort()
    },
  }
}
