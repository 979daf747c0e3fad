/** One run of the fake gateway: what it sends while it runs, and how it ends. */
import { randomUUID } from 'node:crypto'
import type { ScriptedResponder, ResponderResult } from './scripted-responder.ts'
import type { Transcripts } from './transcripts.ts'
import type { GatewayFaults } from './faults.ts'

/** A connected client. */
export interface GatewayPeer {
  readonly connId: string
  readonly deviceId: string | undefined
  readonly scopes: readonly string[]
  readonly caps: readonly string[]
  event(event: string, payload: object, isLost?: boolean): void
  answer(id: string, answer: object): void
}

export interface RunOptions {
  readonly runId: string
  /** The requested run id; another one if the message waited for an earlier run. */
  readonly key: string
  readonly sessionKey: string
  readonly method: 'agent' | 'chat.send'
  readonly message: string
  readonly timeoutMs: number | undefined
  /** Absent if the gateway started it itself. */
  readonly owner: GatewayPeer | undefined
  readonly responder: ScriptedResponder
  readonly transcripts: Transcripts
  readonly faults: GatewayFaults
  /** All connections that may read. */
  peers(): readonly GatewayPeer[]
  /** Whether the command may run; asks if approval is required. */
  approve(run: Run, command: string, toolCallId: string): Promise<'allowed' | 'denied' | 'headless'>
}

export interface RunEnding {
  readonly ok: boolean
  readonly payload: object
  readonly error?: object
  /** The result of `agent.wait`. */
  readonly wait: object
}

export interface Run {
  readonly parts: RunOptions
  readonly runId: string
  readonly startedAt: number
  /** Its output so far, all items. */
  text(): string
  isRunning(): boolean
  ended(): RunEnding | undefined
  readonly finished: Promise<RunEnding>
  start(): Promise<void>
  abort(stopReason: string): void
  /** Like the death of the process: nothing more is sent. */
  drop(): void
}

export function createRun(parts: RunOptions): Run {
  const { runId, sessionKey, responder, transcripts, faults } = parts
  const stop = new AbortController()
  const finished = Promise.withResolvers<RunEnding>()
  const items: { readonly id: string; text: string }[] = []
  let seq = 0
  let ending: RunEnding | undefined
  let isStarted = false
  let isDropped = false
  let stoppedBy: string | undefined
  let lost = 0

  const run: Run = {
    parts,
    runId,
    startedAt: Date.now(),
    text: whole,
    isRunning: () => isStarted && ending === undefined,
    ended: () => ending,
    finished: finished.promise,
    start,
    abort(stopReason) {
      stoppedBy = stopReason
      stop.abort()
      if (!isStarted) end(aborted(stopReason))
    },
    drop() {
      isDropped = true
      stop.abort()
    },
  }
  return run

  async function start(): Promise<void> {
    if (ending !== undefined) return
    isStarted = true
    const late =
      parts.timeoutMs === undefined ? undefined : setTimeout(() => run.abort('timeout'), parts.timeoutMs).unref()
    try {
      await work()
    } finally {
      clearTimeout(late)
    }
  }

  async function work(): Promise<void> {
    transcripts.of(sessionKey).push({ role: 'user', text: parts.message, key: parts.key })
    if (parts.method === 'chat.send') chat({ state: 'status', phase: 'preparing_workspace' })
    tell('lifecycle', { phase: 'start', startedAt: Date.now() })
    tell('lifecycle', { phase: 'model', provider: 'scripted', model: 'scripted' })
    for (let retry = 1; retry <= faults.retries; retry += 1) {
      tell('lifecycle', { phase: 'finishing', stopReason: 'error', aborted: false })
      tell('run_status', {
        phase: 'retrying',
        message: 'provider 500 at secret-host',
        retryAttempt: retry,
        maxRetries: 8,
      })
      tell('lifecycle', { phase: 'start', startedAt: Date.now() })
    }
    if (faults.replaces !== undefined) {
      say('Wrong ')
      await faults.replaces
      replace()
    }
    let wish = await think(undefined)
    while (wish.kind === 'exec') wish = await think(await execute(wish.command))
    if (isDropped) return
    if (stop.signal.aborted) return end(aborted(stoppedBy ?? 'rpc'))
    end(wish.kind === 'failed' ? failed(wish.message) : completed())
  }

  function think(result: string | undefined): Promise<ResponderResult> {
    const userTexts = transcripts.userTexts(sessionKey)
    items.push({ id: `${runId}:${items.length + 1}`, text: '' })
    return responder.respond({
      messages: userTexts,
      say,
      signal: stop.signal,
      ...(result !== undefined ? { result } : {}),
    })
  }

  function whole(): string {
    return items
      .map(({ text }) => text)
      .filter((text) => text !== '')
      .join('\n\n')
  }

  function say(piece: string): void {
    const item = items.at(-1) ?? { id: `${runId}:0`, text: '' }
    if (items.length === 0) items.push(item)
    const before = whole()
    item.text += piece
    const cumulative = faults.deltasOnly ? {} : { text: item.text }
    tell('assistant', { ...cumulative, delta: piece, itemId: item.id }, lost < faults.loses)
    if (lost < faults.loses) lost += 1
    chat({ state: 'delta', deltaText: whole().slice(before.length), message: message(whole()) })
  }

  /** A model that switches to a tool call retracts its output. */
  function replace(): void {
    const item = items.at(-1)
    if (item === undefined) return
    item.text = ''
    tell('assistant', { text: '', delta: '', replace: true, itemId: item.id })
  }

  async function execute(command: string): Promise<string> {
    const toolCallId = `call_${randomUUID().slice(0, 8)}`
    transcripts.of(sessionKey).push({ role: 'assistant', text: items.at(-1)?.text ?? '', runId, stopReason: 'toolUse' })
    const about = { itemId: `tool:${toolCallId}`, toolCallId, name: 'exec', kind: 'tool', title: 'Exec' }
    tell('item', { ...about, phase: 'start', status: 'running' })
    tellTool({ phase: 'start', name: 'exec', toolCallId, args: { command } })
    const verdict = await parts.approve(run, command, toolCallId)
    const output = outputOf(command, verdict)
    const isError = verdict !== 'allowed'
    const result = { content: [{ type: 'text', text: output }], details: { exitCode: 0, cwd: '/home/claw/secret' } }
    tellTool({ phase: 'result', name: 'exec', toolCallId, isError, result })
    tell('item', { ...about, phase: 'end', status: isError ? 'failed' : 'completed' })
    transcripts.of(sessionKey).push({ role: 'toolResult', text: output, runId })
    return output
  }

  function completed(): RunEnding {
    const last = faults.finalText ?? items.at(-1)?.text.trim() ?? ''
    transcripts.of(sessionKey).push({ role: 'assistant', text: last, runId, stopReason: 'stop' })
    tell('lifecycle', { phase: 'finishing', stopReason: 'stop', aborted: false })
    tell('lifecycle', { phase: 'end', aborted: false, stopReason: 'stop', executionSettled: true })
    const all = faults.finalText ?? whole().trim()
    chat({ state: 'final', stopReason: 'stop', ...(all === '' ? {} : { message: message(all) }) })
    const usage = { input: 11, output: 7, total: 18 }
    const meta = { durationMs: 5, agentMeta: { usage, sessionFile: '/home/claw/secret' } }
    const wait = { status: 'ok', endedAt: Date.now(), terminalReply: { disposition: 'visible', text: last } }
    const result = { payloads: [{ text: last, mediaUrl: null }], meta }
    return { ok: true, payload: { status: 'ok', summary: 'completed', result }, wait }
  }

  function failed(why: string): RunEnding {
    transcripts.of(sessionKey).push({ role: 'assistant', text: '', runId, stopReason: 'error' })
    tell('lifecycle', { phase: 'error', error: why, executionSettled: true })
    chat({ state: 'error', errorMessage: why })
    const wait = { status: 'error', endedAt: Date.now(), error: why }
    if (faults.failure === 'third form') {
      const payloads = [{ text: `⚠️ ${why}`, isError: true }]
      const result = { payloads, meta: { error: { kind: 'incomplete_turn', message: why } } }
      return { ok: true, payload: { status: 'error', summary: 'failed', result }, wait }
    }
    return { ok: false, payload: { status: 'error', summary: why }, error: { code: 'UNAVAILABLE', message: why }, wait }
  }

  function aborted(stopReason: string): RunEnding {
    const isLate = stopReason === 'timeout'
    chat({ state: 'aborted', stopReason, message: message(whole()) })
    tell('lifecycle', { phase: 'end', status: 'cancelled', aborted: true, stopReason })
    if (faults.straysAfterAbort) {
      seq = 0
      tell('lifecycle', { phase: 'error', error: 'This operation was aborted', aborted: true })
    }
    const payload = isLate
      ? {
          status: 'timeout',
          summary: 'aborted',
          timeoutPhase: 'provider',
          result: { payloads: [{ text: 'Request timed out', isError: true }] },
        }
      : { status: 'timeout', summary: 'aborted', stopReason }
    const wait = isLate
      ? { status: 'timeout', endedAt: Date.now(), error: 'timed out' }
      : { status: 'error', stopReason, endedAt: Date.now() }
    return { ok: true, payload, wait }
  }

  function end(how: RunEnding): void {
    ending = how
    finished.resolve(how)
  }

  function tell(stream: string, data: object, isLost = false): void {
    seq += faults.joins ? 7 : 1
    const payload = { runId, seq, stream, ts: Date.now(), agentId: 'main', sessionKey, data }
    for (const peer of isDropped ? [] : parts.peers()) {
      if (faults.noisy) noise(peer)
      peer.event('agent', payload, isLost)
    }
  }

  /** Only to the connection that started the run, and only if it subscribed. */
  function tellTool(data: object): void {
    seq += 1
    const { owner } = parts
    const isThere = owner !== undefined && parts.peers().includes(owner) && owner.caps.includes('tool-events')
    if (isThere && !isDropped) owner.event('agent', { runId, seq, stream: 'tool', ts: Date.now(), sessionKey, data })
  }

  function chat(payload: object): void {
    if (isDropped) return
    for (const peer of parts.peers()) peer.event('chat', { runId, sessionKey, agentId: 'main', seq, ...payload })
  }

  function noise(peer: GatewayPeer): void {
    const data = { text: 'not for you', delta: 'not for you', itemId: 'x:1' }
    peer.event('agent', { runId: 'other', seq: 1, stream: 'assistant', sessionKey: 'agent:main:other', data })
    peer.event('agent', { runId: 'other-run-of-this-session', seq: 1, stream: 'assistant', sessionKey, data })
    peer.event('chat', {
      runId: 'other',
      sessionKey: 'agent:main:other',
      seq: 2,
      state: 'final',
      message: message('no'),
    })
    peer.event('task', { action: 'upserted', task: { sessionKey, runId } })
  }
}

function outputOf(command: string, verdict: string): string {
  if (verdict === 'headless') return 'exec denied: Headless runs cannot wait for interactive exec approval'
  if (verdict === 'denied') return `Exec denied (user-denied): ${command}`
  return command.replace(/^echo /, '')
}

function message(text: string): object {
  return { role: 'assistant', content: [{ type: 'text', text }], timestamp: Date.now() }
}
