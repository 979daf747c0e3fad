/** Chooses the transport of a turn to the gateway, and resumes a turn after a restart. */
import { fail, type Agent, type Report, type Turn } from '@parley/a2a'
import { linkSignals, omitUndefined } from '@parley/a2a/internal'
import type { AgentServices } from '../kind.ts'
import { withHopSpan } from '../call-spans.ts'
import type { OpenClawEntry } from './entry.ts'
import type { Gateway } from './gateway/gateway.ts'
import { checkImages, httpLimits, runByHttp } from './http-run.ts'
import { canFallBack, httpCheckMs } from './check-message.ts'
import { checkHttpEndpoint } from './http-endpoint.ts'
import type { OpenClawConnection } from './gateway/connection.ts'
import { runKey, readRunPlan, turnNumber, type RunMethod, type RunPlan } from './run-plan.ts'
import { escapeGatewayCommands, createOpenClawPrompt, type OpenClawPrompt } from './prompt.ts'
import { followRun, type RunStart, type OpenClawTimes } from './run.ts'
import { createKeyedMutex } from '../programs/semaphore.ts'
import type { GatewayFields } from './gateway/frames.ts'

export interface OpenClawDeps {
  readonly entry: OpenClawEntry
  readonly services: AgentServices
  /** Undefined if all turns use HTTP. */
  readonly gateway: Gateway | undefined
  readonly times?: OpenClawTimes
}

const usualTimes: OpenClawTimes = { idleMs: 90_000, everyMs: 2_000 }
/** An approval stays open for half an hour, during which the run is blocked. */
const approvalSeconds = 1_800

export function openClawAgent({ entry, services, gateway, times = usualTimes }: OpenClawDeps): Agent {
  // The gateway queues runs itself, but a `chat.send` during another run is steered into that run, and its answer becomes part
  // of the other one.
  const sessions = createKeyedMutex()
  const about = { agent: services.name, url: entry.url }
  return { resume: 'reattach', run, reattach }

  async function* run(turn: Turn): AsyncGenerator<Report, void, void> {
    const connection = await connectionFor(turn)
    if (connection === undefined || gateway === undefined) return yield* byHttp(turn)
    const prompt = await promptFor(turn, connection)
    const { hasFiles } = prompt
    // Only `chat.send` accepts files, and only in its runs does the gateway wait for approvals. `agent` has its own queue.
    const method: RunMethod = hasFiles || entry.approvals === 'caller' ? 'chat.send' : 'agent'
    yield* byWebSocket(
      turn,
      { ...planFor(turn), way: 'ws', method, bootId: connection.hello.bootId },
      gateway,
      'start',
      prompt,
    )
  }

  async function* reattach(turn: Turn): AsyncGenerator<Report, void, void> {
    const plan = readRunPlan(turn.resumed?.checkpoint)
    // The plan is written before the gateway gets any request, so nothing was sent.
    if (plan === undefined) return yield* run(turn)
    if (plan.way === 'http' || gateway === undefined) {
      return yield fail('The hub was restarted, which stops HTTP runs at the OpenClaw gateway: send the message again')
    }
    yield* byWebSocket(turn, plan, gateway, 'middle')
  }

  /** The WebSocket connection for the turn, or undefined to use HTTP. */
  async function connectionFor(turn: Turn): Promise<OpenClawConnection | undefined> {
    if (gateway === undefined) return undefined
    if (entry.transport === 'split' && !turn.streamed && entry.approvals === 'none' && !hasFile(turn)) return undefined
    try {
      return await gateway.connection(turn.signal)
    } catch (reason) {
      if (entry.transport !== 'auto' || !canFallBack(entry, reason)) throw reason
      // A gateway that is down is down for HTTP too; then the first error is the better one.
      const limit = linkSignals([turn.signal], httpCheckMs)
      await checkHttpEndpoint(entry, services.fetch, limit.signal)
        .catch(() => {
          throw reason
        })
        .finally(limit.end)
      return undefined
    }
  }

  async function* byWebSocket(
    turn: Turn,
    plan: RunPlan,
    open: Gateway,
    from: RunStart,
    prompt?: OpenClawPrompt,
  ): AsyncGenerator<Report, void, void> {
    const leave = await sessions.acquire(plan.sessionKey, turn.signal)
    let followed = false
    try {
      const current = from === 'start' ? await checkpointPlan(turn, plan, open) : plan
      followed = true
      const request = async (connection: OpenClawConnection): Promise<GatewayFields> =>
        requestFor(current, prompt ?? (await promptFor(turn, connection)))
      const run = { turn, plan: current, entry, gateway: open, log: turn.log, request, times, leave }
      yield* withHopSpan(turn, about, ({ traceparent }) => followRun({ ...run, traceparent }, from))
    } finally {
      if (!followed) leave()
    }
  }

  /** The gateway may have restarted while the session was busy. */
  async function checkpointPlan(turn: Turn, plan: RunPlan, open: Gateway): Promise<RunPlan> {
    const { hello } = await open.connection(turn.signal)
    const current = { ...plan, bootId: hello.bootId }
    await turn.checkpoint(current)
    return current
  }

  async function* byHttp(turn: Turn): AsyncGenerator<Report, void, void> {
    const prompt = await createOpenClawPrompt(turn.message, turn.text, httpLimits, services.readPart, turn.signal)
    checkImages(prompt)
    const plan: RunPlan = { ...planFor(turn), way: 'http', method: 'agent', bootId: 'http' }
    const leave = await sessions.acquire(plan.sessionKey, turn.signal)
    try {
      await turn.checkpoint(plan)
      const streams = entry.transport !== 'split'
      const said = { ...prompt, text: escapeGatewayCommands(prompt.text, 'agent') }
      const { fetch, jsonNodes } = services
      const http = { turn, plan, entry, fetch, jsonNodes, log: turn.log, streams }
      yield* withHopSpan(turn, about, ({ traceparent }) => runByHttp({ ...http, traceparent }, said))
    } finally {
      leave()
    }
  }

  function planFor(turn: Turn): Pick<RunPlan, 'turn' | 'key' | 'sessionKey' | 'approvals'> {
    const number = turnNumber(turn)
    return {
      turn: number,
      key: runKey(turn.task.id, number),
      sessionKey: `agent:${entry.agent}:a2a-${turn.sessionKey}`,
      approvals: [],
    }
  }

  function promptFor(turn: Turn, connection: OpenClawConnection): Promise<OpenClawPrompt> {
    return createOpenClawPrompt(turn.message, turn.text, connection.hello.limits, services.readPart, turn.signal)
  }

  function requestFor({ method, key, sessionKey }: RunPlan, { text, attachments }: OpenClawPrompt): GatewayFields {
    const seconds = Math.ceil((services.turnTimeoutMs ?? 600_000) / 1_000)
    const isBounded = Number.isFinite(seconds)
    const common = {
      message: escapeGatewayCommands(text, method),
      sessionKey,
      idempotencyKey: key,
      ...(attachments.length > 0 ? { attachments } : {}),
      ...omitUndefined({ thinking: entry.thinking }),
    }
    if (method === 'agent') {
      return { ...common, agentId: entry.agent, deliver: false, ...(isBounded ? { timeout: seconds } : {}) }
    }
    const waits = entry.approvals === 'caller' ? approvalSeconds : 0
    return { ...common, deliver: false, ...(isBounded ? { timeoutMs: (seconds + waits) * 1_000 } : {}) }
  }
}

function hasFile({ message }: Turn): boolean {
  return message.parts.some((part) => 'raw' in part || 'url' in part)
}
