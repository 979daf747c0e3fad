/** A remote agent called on behalf of a caller: calls are written to the audit log, like those of the hub's own agents. */
import { A2AError } from '@parley/a2a'
import type { Caller, ErrorCode, Operation } from '@parley/a2a'
import type { OnAnswer } from '@parley/a2a/server'
import type { DirectoryAgent } from './agent-directory.ts'

export function withAudit(agent: DirectoryAgent, url: string, caller: Caller, onAnswer: OnAnswer): DirectoryAgent {
  async function withAuditRecord<T>(operation: Operation, work: Promise<T>): Promise<T> {
    const began = performance.now()
    const end = (outcome: 'OK' | ErrorCode): void =>
      onAnswer({
        agent: nameOf(url),
        caller,
        endpoint: 'call',
        operation,
        binding: 'JSONRPC',
        version: '1.0',
        outcome,
        status: 200,
        durationMs: performance.now() - began,
      })
    try {
      const result = await work
      end('OK')
      return result
    } catch (reason) {
      end(A2AError.from(reason).code)
      throw reason
    }
  }

  return {
    profile: agent.profile,
    ref: agent.ref,
    send: (message, call) => withAuditRecord('SendStreamingMessage', agent.send(message, call)),
    start: (message, call) => withAuditRecord('SendMessage', agent.start(message, call)),
    follow: (taskId, call) => withAuditRecord('SubscribeToTask', agent.follow(taskId, call)),
    get: (taskId, historyLength, signal) => withAuditRecord('GetTask', agent.get(taskId, historyLength, signal)),
    cancel: (taskId, signal) => withAuditRecord('CancelTask', agent.cancel(taskId, signal)),
  }
}

/** The address without credentials and query. */
function nameOf(url: string): string {
  const { origin, pathname } = new URL(url)
  return `${origin}${pathname}`
}
