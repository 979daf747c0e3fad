/** An agent elsewhere that is called for somebody: what is asked of it is told to the audit, as of the hub's own agents. */
import { A2AError } from '@parley/a2a'
import type { Caller, ErrorCode, Operation } from '@parley/a2a'
import type { OnAnswer } from '@parley/a2a/server'
import type { DeskAgent } from './desk.ts'

export function audited(agent: DeskAgent, url: string, caller: Caller, onAnswer: OnAnswer): DeskAgent {
  async function told<T>(operation: Operation, work: Promise<T>): Promise<T> {
    const began = performance.now()
    const end = (outcome: 'OK' | ErrorCode): void =>
      onAnswer({
        agent: nameOf(url),
        caller,
        door: 'call',
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
    send: (message, call) => told('SendStreamingMessage', agent.send(message, call)),
    start: (message, call) => told('SendMessage', agent.start(message, call)),
    follow: (taskId, call) => told('SubscribeToTask', agent.follow(taskId, call)),
    get: (taskId, historyLength, signal) => told('GetTask', agent.get(taskId, historyLength, signal)),
    cancel: (taskId, signal) => told('CancelTask', agent.cancel(taskId, signal)),
  }
}

/** Where it is, without what an address may carry besides. */
function nameOf(url: string): string {
  const { origin, pathname } = new URL(url)
  return `${origin}${pathname}`
}
