/**
 * Calls of the hub's own agents in this process, with the identity of whoever sent the request. Who may call, how often and
 * what is audited is decided where it is for every call (auth/access.ts): a visit asks before, and tells after.
 */
import { A2AError } from '@parley/a2a'
import type { Caller, ErrorCode, Message, Operation, StreamEvent } from '@parley/a2a'
import type { Admit, Authenticate, CallContext, Credentials, Engine, OnAnswer } from '@parley/a2a/server'
import { taskIdIn } from './desk.ts'

export interface VisitsParts {
  engine(): Engine | undefined
  readonly authenticate: Authenticate
  readonly admit: Admit
  readonly onAnswer: OnAnswer
}

export interface Wanted {
  readonly agent: string
  /** Absent where an agent is asked for that is not there. */
  readonly operation?: Operation
  readonly traceparent?: string | undefined
}

/** Somebody who was let in. */
export interface Visit {
  readonly engine: Engine
  readonly context: CallContext
  /** Throws PERMISSION_DENIED for a message that names none of the skills that the caller is kept to. */
  checkSkill(message: Message): void
  /** Of what the call is about, as soon as that is known. */
  told(event: StreamEvent): void
}

export interface Visits {
  /** Throws what the call is refused with. */
  call<T>(wanted: Wanted, work: (visit: Visit) => Promise<T>): Promise<T>
  /** Counts what asks nothing of an agent. Throws RATE_LIMITED. */
  knock(caller: Caller): Promise<void>
}

/** As the audit says it: MCP is JSON-RPC, and what it reaches is called as the newest version would. */
const spoken = { version: '1.0', binding: 'JSONRPC' } as const

export function createVisits(parts: VisitsParts, credentialsFor: (agent: string) => Credentials): Visits {
  async function enter({ agent, operation, traceparent }: Wanted, caller: Caller): Promise<Omit<Visit, 'told'>> {
    const credentials = credentialsFor(agent)
    const asking = { agent, caller, ...spoken, credentials, ...(operation !== undefined ? { operation } : {}) }
    const { refuse } = await parts.admit(asking)
    if (refuse !== undefined) throw refuse
    const engine = parts.engine()
    if (engine === undefined) throw new A2AError('UNAVAILABLE', 'The hub has not started yet')
    const context: CallContext = {
      agent,
      tenant: caller.tenant ?? '',
      caller,
      // What is begun is begun, whoever leaves: only so its id is known to whoever wants to end it.
      signal: new AbortController().signal,
      extensions: [],
      mayList: false,
      ...(traceparent !== undefined ? { traceparent } : {}),
    }
    return { engine, context, checkSkill: (message) => checkSkill(caller, message) }
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
        parts.onAnswer({
          agent,
          ...(caller !== undefined ? { caller } : {}),
          door: 'call',
          ...(operation !== undefined ? { operation } : {}),
          ...spoken,
          outcome,
          status: 200,
          ...(taskId !== undefined ? { taskId } : {}),
          durationMs: performance.now() - began,
        })
      }
      try {
        caller = (await parts.authenticate(credentialsFor(agent))) ?? undefined
        if (caller === undefined) throw new A2AError('UNAUTHENTICATED', 'Authentication is required')
        const visit = await enter(wanted, caller)
        const told = (event: StreamEvent): void => {
          taskId = taskIdIn(event) ?? taskId
          end('OK')
        }
        const result = await work({ ...visit, told })
        end('OK')
        return result
      } catch (reason) {
        end(A2AError.from(reason).code)
        throw reason
      }
    },

    async knock(caller) {
      const { refuse } = await parts.admit({ agent: '', caller, ...spoken, credentials: credentialsFor('') })
      if (refuse?.code === 'RATE_LIMITED') throw refuse
    },
  }
}

function checkSkill({ skills }: Caller, { metadata }: Message): void {
  const skillId = metadata?.['skillId']
  if (skills === undefined || (typeof skillId === 'string' && skills.includes(skillId))) return
  throw new A2AError('PERMISSION_DENIED', 'Name one of the skills that you may use: list_agents shows them')
}
