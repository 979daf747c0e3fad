/** All runs of the fake gateway: their order, their outcome, and who may stop them. */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Approvals } from './approvals.ts'
import type { ScriptedResponder } from './scripted-responder.ts'
import type { GatewayParams, GatewayResult } from './gateway-request.ts'
import { createRun } from './run.ts'
import type { RunEnding, GatewayPeer, Run } from './run.ts'
import { formatEntries } from './transcripts.ts'
import type { Transcripts } from './transcripts.ts'
import type { GatewayFaults } from './faults.ts'

export interface RunsDeps {
  readonly responder: ScriptedResponder
  readonly transcripts: Transcripts
  readonly faults: GatewayFaults
  readonly approvals: Approvals
  peers(): readonly GatewayPeer[]
}

export interface Runs {
  /** Answers twice, by itself. */
  agent(peer: GatewayPeer, id: string, params: GatewayParams): void
  chatSend(peer: GatewayPeer, params: GatewayParams): GatewayResult
  abort(peer: GatewayPeer, params: GatewayParams): GatewayResult
  wait(params: GatewayParams): Promise<GatewayResult>
  history(params: GatewayParams): GatewayResult
  /** For the HTTP endpoint. */
  begin(message: string, sessionKey: string): Run
  end(runId: string, stopReason: string): void
  /** Forgets the keys, as happens five minutes after the end of a run. */
  forgetKeys(): void
  crash(): void
  /** Resumes the runs that its death interrupted. */
  resumeInterrupted(): void
}

const resumeNotice =
  '[System] Your previous turn was interrupted by a gateway restart. Continue from the existing transcript.'

export function createRuns({ responder, transcripts, faults, approvals, peers }: RunsDeps): Runs {
  const runs = new Map<string, Run>()
  const keys = new Set<string>()
  /** The last of each session: runs queue behind it. */
  const tails = new Map<string, Promise<unknown>>()
  const active = new Map<string, Run>()
  let life = 0

  return {
    agent(peer, id, params) {
      const runId = String(params['idempotencyKey'])
      const sessionKey = keyOf(params, runId)
      const refused = agentRefusal(params)
      if (refused !== undefined) return peer.answer(id, { ok: false, error: refused })
      const known = keys.has(runId) ? runs.get(runId) : undefined
      const ended = known?.ended()
      if (known !== undefined && ended === undefined) {
        return peer.answer(id, { ok: true, payload: { runId, status: 'in_flight', sessionKey, agentId: 'main' } })
      }
      if (ended !== undefined) return peer.answer(id, finalOf(runId, ended))
      peer.answer(id, {
        ok: true,
        payload: { runId, sessionKey, agentId: 'main', status: 'accepted', acceptedAt: Date.now() },
      })
      if (transcripts.of(sessionKey).some(({ key }) => key === runId)) return spoil(peer, id, runId, sessionKey)
      const seconds = params['timeout']
      const timeoutMs = typeof seconds === 'number' ? seconds * 1_000 : undefined
      const run = make(runId, sessionKey, 'agent', String(params['message']), peer, timeoutMs)
      void run.finished.then((ending) => peer.answer(id, finalOf(runId, ending)))
      queue(run)
    },

    chatSend(peer, params) {
      const runId = String(params['idempotencyKey'])
      const sessionKey = keyOf(params, runId)
      const message = String(params['message'])
      const known = keys.has(runId) ? runs.get(runId) : undefined
      if (known !== undefined) {
        return { payload: { runId, status: known.ended() === undefined ? 'in_flight' : 'ok' } }
      }
      // The bare word is a command of the gateway, and so is text that begins with a slash.
      if (/^(stop|abort|exit)[.!]*$/i.test(message.trim()) || /(^|\s)\/\w+/.test(message)) {
        active.get(sessionKey)?.abort('stop')
        return { payload: { ok: true, aborted: active.has(sessionKey), runIds: [] } }
      }
      const timeoutMs = typeof params['timeoutMs'] === 'number' ? params['timeoutMs'] : undefined
      if (active.has(sessionKey)) {
        // Steered: its own run ends at once without output, and the answer has a run id of the gateway.
        for (const one of peers()) one.event('chat', { runId, sessionKey, seq: 1, state: 'final' })
        keys.add(runId)
        const followUp = make(randomUUID(), sessionKey, 'chat.send', message, peer, timeoutMs, runId)
        queue(followUp)
        return { payload: { runId, status: 'started' } }
      }
      queue(make(runId, sessionKey, 'chat.send', message, peer, timeoutMs))
      return { payload: { runId, status: 'started' } }
    },

    abort(peer, params) {
      const run = runs.get(String(params['runId']))
      if (run === undefined || run.ended() !== undefined) return { payload: { ok: true, aborted: false, runIds: [] } }
      const { owner } = run.parts
      const isOwner =
        owner !== undefined &&
        (owner.connId === peer.connId || (owner.deviceId !== undefined && owner.deviceId === peer.deviceId))
      if (!isOwner && !peer.scopes.includes('operator.admin'))
        return { code: 'INVALID_REQUEST', message: 'unauthorized' }
      run.abort('rpc')
      approvals.denyAll(run.runId)
      return { payload: { ok: true, aborted: true, runIds: [run.runId] } }
    },

    async wait(params) {
      const runId = String(params['runId'])
      const run = runs.get(runId)
      const timeout = sleep(Number(params['timeoutMs'] ?? 30_000), undefined, { ref: false })
      const ended = await Promise.race([run?.finished ?? timeout, timeout])
      return { payload: { runId, status: 'timeout', ...ended?.wait } }
    },

    history(params) {
      const sessionKey = String(params['sessionKey']).toLowerCase()
      const run = active.get(sessionKey)
      const entries = transcripts.of(sessionKey)
      const isWaiting = transcripts.interrupted.has(sessionKey)
      return {
        payload: {
          sessionKey,
          sessionId: 's1',
          messages: formatEntries(entries, Number(params['limit'] ?? 200)),
          pendingInputs: { items: [], total: 0 },
          hasMore: false,
          totalMessages: entries.length,
          sessionInfo: {
            key: sessionKey,
            hasActiveRun: run !== undefined || isWaiting,
            status: run ? 'running' : 'done',
          },
          ...(run !== undefined && run.isRunning()
            ? { inFlightRun: { runId: run.runId, text: run.text(), startedAt: run.startedAt, sessionAbortable: true } }
            : {}),
        },
      }
    },

    begin(message, sessionKey) {
      const run = make(randomUUID(), sessionKey, 'agent', message, undefined, undefined)
      queue(run)
      return run
    },

    end: (runId, stopReason) => runs.get(runId)?.abort(stopReason),

    forgetKeys: () => keys.clear(),

    crash() {
      life += 1
      for (const [sessionKey, run] of active) {
        transcripts.interrupted.set(sessionKey, run.runId)
        run.drop()
      }
      runs.clear()
      keys.clear()
      tails.clear()
      active.clear()
    },

    resumeInterrupted() {
      for (const sessionKey of transcripts.interrupted.keys()) {
        queue(make(randomUUID(), sessionKey, 'agent', resumeNotice, undefined, undefined))
      }
      transcripts.interrupted.clear()
    },
  }

  function make(
    runId: string,
    sessionKey: string,
    method: 'agent' | 'chat.send',
    message: string,
    owner: GatewayPeer | undefined,
    timeoutMs: number | undefined,
    key = runId,
  ): Run {
    const run = createRun({
      runId,
      sessionKey,
      method,
      message,
      owner,
      timeoutMs,
      responder,
      faults,
      peers,
      transcripts,
      key,
      approve: approvals.ask,
    })
    runs.set(runId, run)
    keys.add(runId)
    return run
  }

  function queue(run: Run): void {
    const { sessionKey } = run.parts
    const began = life
    const before = tails.get(sessionKey) ?? Promise.resolve()
    tails.set(
      sessionKey,
      before.then(async () => {
        if (began !== life || run.ended() !== undefined) return
        active.set(sessionKey, run)
        await run.start()
        if (active.get(sessionKey) === run) active.delete(sessionKey)
      }),
    )
  }

  /** A forgotten key that is sent again: the gateway runs it, finds the turn done, and corrupts its record of it. */
  function spoil(peer: GatewayPeer, id: string, runId: string, sessionKey: string): void {
    const message = 'Session transcript keyed user is outside the current turn'
    transcripts
      .of(sessionKey)
      .push({ role: 'assistant', text: 'The agent run failed before producing a reply.', runId, stopReason: 'stop' })
    const result = {
      payloads: [{ text: `⚠️ ${message}`, isError: true }],
      meta: { error: { kind: 'incomplete_turn', message } },
    }
    peer.answer(id, { ok: true, payload: { runId, status: 'error', summary: 'failed', result } })
  }
}

function finalOf(runId: string, { ok, payload, error }: RunEnding): object {
  return { ok, payload: { runId, ...payload }, ...(error !== undefined ? { error } : {}) }
}

function keyOf(params: GatewayParams, runId: string): string {
  return String(params['sessionKey'] ?? `agent:main:explicit:${runId}`).toLowerCase()
}

function agentRefusal(params: GatewayParams): object | undefined {
  const message = params['message']
  const attachments = (params['attachments'] ?? []) as readonly { readonly mimeType?: string }[]
  const other = attachments.find(({ mimeType }) => mimeType?.startsWith('image/') !== true)
  if (typeof message !== 'string' || message.trim() === '')
    return { code: 'INVALID_REQUEST', message: 'invalid agent params: message' }
  if (/^\s*\/(new|reset)\b/.test(message)) return { code: 'FORBIDDEN', message: 'missing scope: operator.admin' }
  if (params['agentId'] !== undefined && params['agentId'] !== 'main')
    return { code: 'INVALID_REQUEST', message: 'unknown agent id' }
  if (other !== undefined) {
    return {
      code: 'INVALID_REQUEST',
      message: `UnsupportedAttachmentError: non-image attachments (${other.mimeType}) are not supported`,
    }
  }
  return undefined
}
