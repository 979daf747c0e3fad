/** Which way a turn goes to the gateway, and how one that a restart interrupted is taken up. */
import { A2AError, fail, linkSignals } from '@parley/a2a'
import type { Agent, Report, Turn } from '@parley/a2a'
import type { KindParts } from '../kind.ts'
import { withHopSpan } from '../hop-span.ts'
import { sessionKeyOf } from '../session-key.ts'
import type { OpenclawEntry } from './entry.ts'
import type { Gateway } from './gateway.ts'
import { checkHttp, checkImages, httpLimits, runByHttp } from './http.ts'
import type { Line } from './line.ts'
import { keyOf, readPlan, turnNumber } from './plan.ts'
import type { Method, Plan } from './plan.ts'
import { asWords, promptOf } from './prompt.ts'
import type { Prompt } from './prompt.ts'
import { followRun } from './run.ts'
import type { RunFrom, Times } from './run.ts'
import { createSessions } from './sessions.ts'
import type { Fields } from './wire.ts'

export interface OpenclawParts {
  readonly entry: OpenclawEntry
  readonly parts: KindParts
  /** Nothing where everything goes by HTTP. */
  readonly gateway: Gateway | undefined
  readonly times?: Times
}

const usualTimes: Times = { idleMs: 90_000, everyMs: 2_000 }
/** An approval stays open for half an hour, and whoever waits for it does not work. */
const approvalSeconds = 1_800

export function openclawAgent({ entry, parts, gateway, times = usualTimes }: OpenclawParts): Agent {
  const sessions = createSessions()
  const about = { agent: parts.name, url: entry.url }
  return { resume: 'reattach', run, reattach }

  async function* run(turn: Turn): AsyncGenerator<Report, void, void> {
    const line = await wayFor(turn)
    if (line === undefined || gateway === undefined) return yield* byHttp(turn)
    const prompt = await promptFor(turn, line)
    const { hasFiles } = prompt
    // Only `chat.send` takes files, and only in its runs does the gateway wait for approvals. `agent` queues by itself.
    const method: Method = hasFiles || entry.approvals === 'caller' ? 'chat.send' : 'agent'
    yield* byWebSocket(
      turn,
      { ...planFor(turn), way: 'ws', method, bootId: line.hello.bootId },
      gateway,
      'start',
      prompt,
    )
  }

  async function* reattach(turn: Turn): AsyncGenerator<Report, void, void> {
    const plan = readPlan(turn.resumed?.checkpoint)
    // Nothing was asked of the gateway before that was written.
    if (plan === undefined) return yield* run(turn)
    if (plan.way === 'http' || gateway === undefined) {
      return yield fail(
        'The hub was restarted, and the OpenClaw gateway stops what was asked by HTTP then: send it again',
      )
    }
    yield* byWebSocket(turn, plan, gateway, 'middle')
  }

  /** The WebSocket that the turn goes by, or nothing: by HTTP. */
  async function wayFor(turn: Turn): Promise<Line | undefined> {
    if (gateway === undefined) return undefined
    if (entry.transport === 'split' && !turn.streamed && entry.approvals === 'none' && !hasFile(turn)) return undefined
    try {
      return await gateway.line(turn.signal)
    } catch (reason) {
      if (entry.transport !== 'auto' || !isWayBlocked(reason) || entry.approvals === 'caller') throw reason
      // A gateway that is down is down by HTTP, too; then the first reason is the better one.
      const limit = linkSignals([turn.signal], 5_000)
      await checkHttp(entry, parts.fetch, limit.signal)
        .catch(() => {
          throw reason
        })
        .finally(limit.end)
      return undefined
    }
  }

  async function* byWebSocket(
    turn: Turn,
    plan: Plan,
    open: Gateway,
    from: RunFrom,
    prompt?: Prompt,
  ): AsyncGenerator<Report, void, void> {
    const leave = await sessions.enter(plan.sessionKey, turn.signal)
    let followed = false
    try {
      const current = from === 'start' ? await remembered(turn, plan, open) : plan
      followed = true
      const request = async (line: Line): Promise<Fields> =>
        requestFor(current, prompt ?? (await promptFor(turn, line)))
      const run = { turn, plan: current, entry, gateway: open, log: turn.log, request, times, leave }
      yield* withHopSpan(turn, about, ({ traceparent }) => followRun({ ...run, traceparent }, from))
    } finally {
      if (!followed) leave()
    }
  }

  /** Which start of the gateway it is sent to may have changed while the session was busy. */
  async function remembered(turn: Turn, plan: Plan, open: Gateway): Promise<Plan> {
    const { hello } = await open.line(turn.signal)
    const current = { ...plan, bootId: hello.bootId }
    await turn.checkpoint(current)
    return current
  }

  async function* byHttp(turn: Turn): AsyncGenerator<Report, void, void> {
    const prompt = await promptOf(turn.message, turn.text, httpLimits, parts.bytes, turn.signal)
    checkImages(prompt)
    const plan: Plan = { ...planFor(turn), way: 'http', method: 'agent', bootId: 'http' }
    const leave = await sessions.enter(plan.sessionKey, turn.signal)
    try {
      await turn.checkpoint(plan)
      const streams = entry.transport !== 'split'
      const said = { ...prompt, text: asWords(prompt.text, 'agent') }
      const { fetch, jsonNodes } = parts
      const http = { turn, plan, entry, fetch, jsonNodes, log: turn.log, streams }
      yield* withHopSpan(turn, about, ({ traceparent }) => runByHttp({ ...http, traceparent }, said))
    } finally {
      leave()
    }
  }

  function planFor(turn: Turn): Pick<Plan, 'turn' | 'key' | 'sessionKey' | 'approvals'> {
    const number = turnNumber(turn)
    return {
      turn: number,
      key: keyOf(turn.task.id, number),
      sessionKey: `agent:${entry.agent}:a2a-${sessionKeyOf(turn, parts.name)}`,
      approvals: [],
    }
  }

  function promptFor(turn: Turn, line: Line): Promise<Prompt> {
    return promptOf(turn.message, turn.text, line.hello.limits, parts.bytes, turn.signal)
  }

  function requestFor({ method, key, sessionKey }: Plan, { text, attachments }: Prompt): Fields {
    const seconds = Math.ceil((parts.turnTimeoutMs ?? 600_000) / 1_000)
    const isBounded = Number.isFinite(seconds)
    const common = {
      message: asWords(text, method),
      sessionKey,
      idempotencyKey: key,
      ...(attachments.length > 0 ? { attachments } : {}),
      ...(entry.thinking !== undefined ? { thinking: entry.thinking } : {}),
    }
    if (method === 'agent') {
      return { ...common, agentId: entry.agent, deliver: false, ...(isBounded ? { timeout: seconds } : {}) }
    }
    const waits = entry.approvals === 'caller' ? approvalSeconds : 0
    return { ...common, deliver: false, ...(isBounded ? { timeoutMs: (seconds + waits) * 1_000 } : {}) }
  }
}

/** Another way may be open: the gateway was not reached, or did not understand. A gateway that says no says it to all. */
function isWayBlocked(reason: unknown): boolean {
  return reason instanceof A2AError && ['UNREACHABLE', 'PROTOCOL'].includes(reason.details.cause ?? '')
}

function hasFile({ message }: Turn): boolean {
  return message.parts.some((part) => 'raw' in part || 'url' in part)
}
