/**
 * A gateway for tests: it follows the observed protocol of the real one, its agent follows the message (`scripted-responder.ts`),
 * and it misbehaves on request (`faults.ts`). Where it differs from the real one, it is wrong: `npm test -- openclaw`
 * runs the same tests against both.
 */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { WebSocketServer } from 'ws'
import type { WebSocket } from 'ws'
import { createApprovals } from './approvals.ts'
import type { Approvals } from './approvals.ts'
import { checkHandshake } from './handshake.ts'
import type { HandshakeState } from './handshake.ts'
import { serveHttp } from './http.ts'
import type { HttpDeps } from './http.ts'
import { createScriptedResponder } from './scripted-responder.ts'
import type { ScriptedResponder } from './scripted-responder.ts'
import { readAgentInfo } from './agent-info.ts'
import type { GatewayParams, GatewayResult } from './gateway-request.ts'
import type { GatewayPeer } from './run.ts'
import { createRuns } from './runs.ts'
import type { Runs } from './runs.ts'
import { createTranscripts } from './transcripts.ts'
import { noFaults } from './faults.ts'
import type { GatewayFaults } from './faults.ts'

export interface FakeGateway {
  readonly url: string
  readonly token: string
  readonly responder: ScriptedResponder
  readonly faults: GatewayFaults
  readonly runs: Runs
  readonly approvals: Approvals
  /** All requests, oldest first. */
  readonly receivedRequests: { readonly method: string; readonly params: GatewayParams; readonly connId: string }[]
  /** The trace of the last request per method. */
  readonly traced: Map<string, string>
  readonly bodies: HttpDeps['bodies']
  connections(): number
  /** The number of connection attempts, accepted or not. */
  connectionAttempts(): number
  /** Like a pulled cable: connections are not closed. */
  cut(): void
  /** Sends nothing more to current connections, and keeps them open. */
  silence(): void
  /** The same for pending HTTP responses. */
  cutHttp(): void
  /** Like a run stopped at the gateway, or timed out there. */
  endRun(runId: string, stopReason: string): void
  /** As `openclaw devices approve`. */
  pair(requestId: string): void
  pairRequests(): readonly string[]
  /** As SIGKILL, or (`politely`) as SIGTERM: then it announces its shutdown. */
  stop(politely?: boolean): void
  /** Restarts on the same port, without its memory. */
  start(options?: { readonly takesUp?: boolean; readonly afterMs?: number }): void
  close(): Promise<void>
}

export async function openFakeGateway(): Promise<FakeGateway> {
  const trouble = noFaults()
  const mind = createScriptedResponder()
  const transcripts = createTranscripts()
  const sockets = new Map<WebSocket, GatewayPeer>()
  const silent = new WeakSet<WebSocket>()
  const asked: FakeGateway['receivedRequests'] = []
  const traced: FakeGateway['traced'] = new Map()
  const bodies: HttpDeps['bodies'] = []
  let bootId: string = randomUUID()
  let isDown = false
  let knocks = 0
  const peers = (): readonly GatewayPeer[] => [...sockets.values()]
  const handshakeState: HandshakeState = {
    token: 'TOK',
    trouble,
    paired: new Map(),
    requests: new Map(),
    bootId: () => bootId,
  }
  const approvals = createApprovals(trouble, peers)
  const runs = createRuns({ responder: mind, transcripts, faults: trouble, approvals, peers })

  const server = createServer((request, response) => {
    if (isDown) return void request.socket.destroy()
    void serveHttp(request, response, { token: handshakeState.token, trouble, runs, bodies }).catch(() =>
      response.destroy(),
    )
  })
  const all = new WebSocketServer({ noServer: true, maxPayload: 26_214_400 })
  server.on('upgrade', (request, socket, head) => {
    knocks += 1
    if (isDown || trouble.noWebSocket) return void socket.destroy()
    all.handleUpgrade(request, socket, head, welcome)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const ticking = setInterval(tick, 10)
  let tickedAt = Date.now()

  return {
    url: `ws://127.0.0.1:${port}`,
    token: handshakeState.token,
    responder: mind,
    faults: trouble,
    runs,
    approvals,
    receivedRequests: asked,
    traced,
    bodies,
    connections: () => all.clients.size,
    connectionAttempts: () => knocks,
    cut: () => all.clients.forEach((socket) => socket.terminate()),
    silence() {
      for (const socket of all.clients) silent.add(socket)
    },
    endRun: (runId, stopReason) => runs.end(runId, stopReason),
    cutHttp: () => server.closeAllConnections(),
    pair(requestId) {
      handshakeState.paired.set(handshakeState.requests.get(requestId) ?? '', `device-token-${requestId}`)
      handshakeState.requests.delete(requestId)
    },
    pairRequests: () => [...handshakeState.requests.keys()],
    stop(politely = false) {
      isDown = true
      runs.crash()
      for (const [socket, peer] of sockets) {
        if (politely) {
          peer.event('shutdown', { reason: 'gateway stopping' })
          socket.close(1012, 'service restart')
        } else socket.terminate()
      }
      sockets.clear()
    },
    start({ takesUp = true, afterMs = 50 } = {}) {
      bootId = randomUUID()
      isDown = false
      if (takesUp) setTimeout(runs.resumeInterrupted, afterMs)
      else transcripts.interrupted.clear()
    },
    async close() {
      clearInterval(ticking)
      runs.crash()
      all.clients.forEach((socket) => socket.terminate())
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }

  function tick(): void {
    if (Date.now() - tickedAt < trouble.tickMs) return
    tickedAt = Date.now()
    for (const peer of peers()) peer.event('tick', { ts: Date.now() })
  }

  function welcome(socket: WebSocket): void {
    const nonce = randomUUID()
    const connId = randomUUID()
    let seq = 0
    const write = (frame: object): void => {
      if (socket.readyState === socket.OPEN && !silent.has(socket)) socket.send(JSON.stringify(frame))
    }
    const about = {
      connId,
      event(event: string, payload: object, isLost = false) {
        seq += 1
        if (!isLost) write({ type: 'event', event, payload, seq })
      },
      answer: (id: string, answer: object) => write({ type: 'res', id, ...answer }),
    }
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    socket.on('message', (data) => {
      const frame = JSON.parse(String(data)) as {
        id: string
        method: string
        params: GatewayParams
        traceparent?: string
      }
      if (frame.traceparent !== undefined) traced.set(frame.method, frame.traceparent)
      const peer = sockets.get(socket)
      if (peer !== undefined) return void handle(socket, peer, frame.id, frame.method, frame.params ?? {})
      if (frame.method !== 'connect') return socket.close(1008)
      const verdict = checkHandshake(handshakeState, frame.params, nonce, connId)
      if ('error' in verdict) {
        about.answer(frame.id, { ok: false, error: verdict.error })
        return socket.close(verdict.closeCode)
      }
      const { scopes, deviceId, hello } = verdict
      sockets.set(socket, { ...about, scopes, deviceId, caps: (frame.params['caps'] ?? []) as readonly string[] })
      about.answer(frame.id, { ok: true, payload: hello })
    })
    if (!trouble.mute) write({ type: 'event', event: 'connect.challenge', payload: { nonce, ts: Date.now() } })
  }

  async function handle(
    socket: WebSocket,
    peer: GatewayPeer,
    id: string,
    method: string,
    params: GatewayParams,
  ): Promise<void> {
    asked.push({ method, params, connId: peer.connId })
    if (trouble.cutOn === method) {
      trouble.cutOn = undefined
      return socket.terminate()
    }
    if (method === 'agent' && peer.scopes.includes('operator.write')) runs.agent(peer, id, params)
    else {
      const result = await resultOf(peer, method, params)
      const isGood = 'payload' in result
      peer.answer(id, isGood ? { ok: true, payload: result.payload } : { ok: false, error: result })
    }
    if (trouble.cutAfter !== method) return
    trouble.cutAfter = undefined
    setTimeout(() => socket.terminate(), 10)
  }

  async function resultOf(peer: GatewayPeer, method: string, params: GatewayParams): Promise<GatewayResult> {
    const isWrite = ['agent', 'chat.send', 'chat.abort'].includes(method)
    const scope = isWrite ? 'operator.write' : method.startsWith('exec.') ? 'operator.approvals' : 'operator.read'
    if (method !== 'health' && !peer.scopes.includes(scope)) {
      return {
        code: 'FORBIDDEN',
        message: `missing scope: ${scope}`,
        details: { code: 'MISSING_SCOPE', missingScope: scope },
      }
    }
    if (method === 'chat.send') return runs.chatSend(peer, params)
    if (method === 'chat.abort') return runs.abort(peer, params)
    if (method === 'agent.wait') return runs.wait(params)
    if (method === 'chat.history') return runs.history(params)
    if (method === 'exec.approval.list') return { payload: approvals.list(peer) }
    if (method === 'exec.approval.resolve') return approvals.resolve(String(params['id']), String(params['decision']))
    return readAgentInfo(method, trouble)
  }
}
