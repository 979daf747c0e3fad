/** A program of the simple module as a server: its card, `POST /a2a/tasks/send` and `GET /a2a/tasks/{id}`, and nothing else. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { A2AError } from '@parley/a2a'
import { buildAgentCard, handleTaskGet, handleTaskSend } from '@parley/a2a/simple'
import { Database, depsOf, grace, ProcessManager } from './simple-sessions.ts'
import type { Session } from './simple-sessions.ts'

export interface SimplePeer {
  readonly url: string
  /** Method and path of every request. */
  readonly requests: readonly string[]
  /** What was posted. */
  readonly bodies: readonly unknown[]
  close(): Promise<void>
}

/** Repeats the message after a progress message, in a separate turn of the event loop; `fail` makes it fail, and `wait` makes it silent. */
class Echo extends ProcessManager {
  override startProcess(session: Session, prompt: string): void {
    super.startProcess(session, prompt)
    if (prompt === 'wait') return
    setImmediate(() => {
      this.emit(session.id, { type: 'assistant', content: 'One moment' })
      if (prompt === 'fail') return this.emit(session.id, { type: 'error', content: 'It broke' })
      this.emit(session.id, { type: 'assistant', content: `You said ${prompt}` })
      this.emit(session.id, { type: 'session_exited' })
    })
  }
}

/** `card` is its card; by default the one that the module builds. */
export async function openSimplePeer(card?: (url: string) => object): Promise<SimplePeer> {
  const deps = depsOf(new Database(grace), new Echo())
  const requests: string[] = []
  const bodies: unknown[] = []
  const server = createServer((request, response) => {
    const line = `${request.method} ${request.url}`
    requests.push(line)
    void text(request).then((body) => {
      const [status, answer] = answerTo(line, body)
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    requests,
    bodies,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }

  function answerTo(line: string, body: string): [status: number, answer: unknown] {
    if (line === 'GET /.well-known/agent-card.json') return [200, card?.(url) ?? buildAgentCard(url)]
    const [, id] = /^GET \/a2a\/tasks\/([^/]+)$/.exec(line) ?? []
    const task = id === undefined ? null : handleTaskGet(id)
    if (task !== null) return [200, task]
    if (line !== 'POST /a2a/tasks/send') return [404, { error: 'Not found' }]
    try {
      bodies.push(JSON.parse(body))
      return [200, handleTaskSend(deps, JSON.parse(body))]
    } catch (error) {
      return [400, { error: A2AError.from(error).message }]
    }
  }
}
