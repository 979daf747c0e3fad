/** Connects to the agent of a run: fetches its card, keeps the floor of the protocol version, and watches every exchange. */
import { A2AError, connect } from '@parley/a2a/client'
import type { ClientCall, Interceptor, RemoteAgent } from '@parley/a2a/client'
import type { Output } from '../output/output.ts'
import { defaultVersion, versionOf } from './call-settings.ts'
import { cardError, ownError } from './card-error.ts'
import { prepareAgent, type ConnectDeps, type PreparedAgent } from './connect-options.ts'
import type { AgentConnection, Exchange } from './connection.ts'

export async function connectAgent(deps: ConnectDeps): Promise<AgentConnection> {
  const prepared = await prepareAgent(deps)
  try {
    return await openConnection(prepared, deps)
  } catch (reason) {
    prepared.close()
    throw reason
  }
}

async function openConnection(prepared: PreparedAgent, deps: ConnectDeps): Promise<AgentConnection> {
  const { settings, output, signal } = deps
  const listeners = new Set<(exchange: Exchange) => void>()
  const report = ({ operation, attempt }: ClientCall, phase: Exchange['phase'], error?: unknown): void => {
    for (const listener of listeners) listener({ operation, attempt, phase, error })
  }
  const watch: Interceptor = async (call, next) => {
    prepared.answerLimit.begin(call)
    report(call, 'begin')
    try {
      const result = await next(call)
      report(call, 'end')
      return result
    } catch (reason) {
      const error = ownError(reason)
      report(call, 'end', error)
      throw error
    }
  }
  let noteRetry = output.note
  const { target, options, hasCard } = prepared
  const tenant = settings.value('tenant')
  const agent = await connect('url' in target ? target.url : (target.document as never), {
    ...options,
    version: versionOf(settings) ?? defaultVersion,
    onRetry: ({ error: { code }, delayMs }) => {
      // A person does not notice a shorter wait.
      if (delayMs < 1_000) return
      const reason = code === 'RATE_LIMITED' ? 'Rate limited' : 'The agent is not available'
      noteRetry(`${reason}; retrying in ${Math.ceil(delayMs / 1_000)} s.`)
    },
    interceptors: [watch, logCalls(output), ...(tenant === undefined ? [] : [withTenant(tenant)])],
  }).catch((reason: unknown) => {
    signal.throwIfAborted()
    throw cardError(reason, prepared.reference)
  })
  output.debug(`using ${agent.interface.protocolBinding} of A2A ${agent.interface.version} at ${agent.interface.url}`, {
    why: agent.interface.why,
  })
  if (hasCard) reportRequiredExtensions(agent, settings.values('extension'), output)
  const { card } = agent
  return {
    reference: prepared.reference,
    resumeArgs: prepared.resumeArgs,
    card: hasCard ? card : undefined,
    cardUrl: 'url' in target ? target.url : undefined,
    agent,
    fetch: prepared.fetch,
    checkProjectTrust: prepared.checkProjectTrust,
    canStream: card.capabilities.streaming === true,
    canPush: card.capabilities.pushNotifications === true,
    async getTask(id, { historyLength, signal: own = signal } = {}) {
      const request = { id, ...(historyLength === undefined ? {} : { historyLength }) }
      const task = await agent.session.call('GetTask', request, { signal: own })
      if (task.id !== id)
        throw new A2AError('INVALID_AGENT_RESPONSE', `The agent returned the task ${task.id}`, { taskId: id })
      return task
    },
    onExchange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    noteRetries(note) {
      noteRetry = note
      return () => (noteRetry = output.note)
    },
    async close() {
      prepared.close()
    },
  }
}

/** The tenant of the card is never displaced: this one is for interfaces without one. */
function withTenant(tenant: string): Interceptor {
  return (call, next) => next({ ...call, request: { tenant, ...call.request } })
}

/** What `--debug` shows of every call, also over gRPC, which the wire log does not see. */
function logCalls(output: Output): Interceptor {
  return async (call, next) => {
    if (!output.isDebug) return next(call)
    const { operation, attempt, interface: at, request, lastEventId } = call
    const startedAt = performance.now()
    const took = (): string => `${(performance.now() - startedAt).toFixed(1)} ms`
    const resumed = lastEventId === undefined ? '' : `, after event ${lastEventId}`
    output.debug(`${operation} over ${at.protocolBinding} ${at.version}, attempt ${attempt}${resumed}`)
    const isGrpc = at.protocolBinding.toUpperCase() === 'GRPC'
    if (isGrpc) output.debug(`> ${JSON.stringify(request)}`)
    try {
      const result = await next(call)
      output.debug(`${operation} ${'stream' in result ? 'streams' : 'answered'} after ${took()}`)
      if (!isGrpc) return result
      if ('result' in result) {
        output.debug(`< ${JSON.stringify(result.result)}`)
        return result
      }
      return { stream: loggedStream(result.stream, output) }
    } catch (reason) {
      output.debug(`${operation} failed after ${took()}: ${(reason as Error).message}`)
      throw reason
    }
  }
}

async function* loggedStream<T extends { readonly event: unknown }>(
  stream: AsyncGenerator<T, void, undefined>,
  output: Output,
): AsyncGenerator<T, void, undefined> {
  for await (const frame of stream) {
    output.debug(`< ${JSON.stringify(frame.event)}`)
    yield frame
  }
}

/** Extensions are declared only if the user says so: the program cannot know what an unknown extension demands. */
function reportRequiredExtensions({ card }: RemoteAgent, declared: readonly string[], output: Output): void {
  for (const { uri, required } of card.capabilities.extensions ?? [])
    if (required === true && !declared.includes(uri))
      output.warn(`The agent requires the extension ${uri}. To declare it, use --extension ${uri}`)
}
