/**
 * Calls of the hub's own agents in this process, with the identity of the caller. Access control (auth/access-control.ts)
 * decides permissions, rate limits and audit, as for every call: it is asked before the call and notified after it.
 */
import type { Caller, ErrorCode, Message, Operation, StreamEvent } from '@parley/a2a'
import type { Admit, Authenticate, CallContext, Credentials, Engine, OnAnswer } from '@parley/a2a/server'
import { A2AError, taskIdOfEvent } from '@parley/a2a'

export interface LocalCallsDeps {
  engine(): Engine | undefined
  readonly authenticate: Authenticate
  readonly admit: Admit
  readonly onAnswer: OnAnswer
}

export interface LocalCallRequest {
  readonly agent: string
  /** Absent if the requested agent does not exist. */
  readonly operation?: Operation
  readonly traceparent?: string | undefined
}

/** An admitted call. */
export interface LocalCall {
  readonly engine: Engine
  readonly context: CallContext
  /** Throws PERMISSION_DENIED if the caller is limited to some skills and the message names none of them. */
  checkSkill(message: Message): void
  /** Records the task of the call as soon as it is known. */
  recordTask(event: StreamEvent): void
}

export interface LocalCalls {
  /** Throws the error if the call is refused. */
  call<T>(wanted: LocalCallRequest, work: (localCall: LocalCall) => Promise<T>): Promise<T>
  /** Counts a request that calls no agent. Throws RATE_LIMITED. */
  countRequest(caller: Caller): Promise<void>
}

/** For the audit log: MCP is JSON-RPC, and its calls use the newest version. */
const auditedAs = { version: '1.0', binding: 'JSONRPC' } as const

export function createLocalCalls(deps: LocalCallsDeps, credentialsFor: (agent: string) => Credentials): LocalCalls {
  async function admitCall(
    { agent, operation, traceparent }: LocalCallRequest,
    caller: Caller,
  ): Promise<Omit<LocalCall, 'recordTask'>> {
    const credentials = credentialsFor(agent)
    const asking = { agent, caller, ...auditedAs, credentials, ...(operation !== undefined ? { operation } : {}) }
    const { refuse } = await deps.admit(asking)
    if (refuse !== undefined) throw refuse
    const engine = deps.engine()
    if (engine === undefined) throw new A2AError('UNAVAILABLE', 'The hub has not started yet')
    const context: CallContext = {
      agent,
      tenant: caller.tenant ?? '',
      caller,
      // Work that has started continues when the client disconnects, so that its id is known and it can be canceled.
      signal: new AbortController().signal,
      extensions: [],
      canListTasks: false,
      ...(traceparent !== undefined ? { traceparent } : {}),
    }
    return { engine, context, checkSkill: (message) => requireAllowedSkill(caller, message) }
  }

  return {
    async call(wanted, work) {
      const { agent, operation } = wanted
      const began = performance.now()
      let caller: Caller | undefined
      let taskId: string | undefined
      let isTold = false
      const end = (outcome: 'OK' | ErrorCode): void => {
        if (isTold) return
        isTold = true
        deps.onAnswer({
          agent,
          ...(caller !== undefined ? { caller } : {}),
          endpoint: 'call',
          ...(operation !== undefined ? { operation } : {}),
          ...auditedAs,
          outcome,
          status: 200,
          ...(taskId !== undefined ? { taskId } : {}),
          durationMs: performance.now() - began,
        })
      }
      try {
        caller = (await deps.authenticate(credentialsFor(agent))) ?? undefined
        if (caller === undefined) throw new A2AError('UNAUTHENTICATED', 'Authentication is required')
        const localCall = await admitCall(wanted, caller)
        const recordTask = (event: StreamEvent): void => {
          taskId = taskIdOfEvent(event) ?? taskId
          end('OK')
        }
        const result = await work({ ...localCall, recordTask })
        end('OK')
        return result
      } catch (reason) {
        end(A2AError.from(reason).code)
        throw reason
      }
    },

    async countRequest(caller) {
      const { refuse } = await deps.admit({ agent: '', caller, ...auditedAs, credentials: credentialsFor('') })
      if (refuse?.code === 'RATE_LIMITED') throw refuse
    },
  }
}

function requireAllowedSkill({ skills }: Caller, { metadata }: Message): void {
  const skillId = metadata?.['skillId']
  if (skills === undefined || (typeof skillId === 'string' && skills.includes(skillId))) return
  throw new A2AError('PERMISSION_DENIED', 'Name a skill that you may use: list_agents shows them')
}
