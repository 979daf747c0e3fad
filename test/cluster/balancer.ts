/**
 * A load balancer: each request goes to the next replica, whichever connection it came on. It knows nothing of
 * tasks, has no sticky sessions and no health checks; a replica that refuses the connection is skipped.
 */
import { Agent, createServer, request as ask } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

export interface Balancer {
  readonly url: string
  /** How many requests each target got. */
  readonly counts: ReadonlyMap<string, number>
  close(): Promise<void>
}

export async function startBalancer(targets: readonly string[]): Promise<Balancer> {
  // Closes an idle connection before the replica does: a request on a connection that is being closed would be lost.
  const agent = new Agent({ keepAlive: true, maxSockets: Infinity, timeout: 20_000 })
  const counts = new Map(targets.map((target) => [target, 0]))
  let turn = 0

  const server = createServer((incoming, outgoing) => {
    void buffer(incoming).then(
      (body) => pass(incoming, outgoing, body, targets.length),
      () => outgoing.destroy(),
    )
  })

  function pass(incoming: IncomingMessage, outgoing: ServerResponse, body: Buffer, triesLeft: number): void {
    const target = targets[turn++ % targets.length] as string
    const { method, url, headers } = incoming
    const onward = ask(`${target}${url}`, { method, headers, agent }, (answer) => {
      counts.set(target, (counts.get(target) ?? 0) + 1)
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      // At once: a stream may send nothing for a while.
      outgoing.flushHeaders()
      answer.pipe(outgoing)
      answer.on('error', () => outgoing.destroy())
      answer.on('close', () => {
        if (!answer.complete) outgoing.destroy()
      })
    })
    onward.on('error', (error: NodeJS.ErrnoException) => {
      if (outgoing.headersSent || outgoing.destroyed) outgoing.destroy()
      else if (error.code === 'ECONNREFUSED' && triesLeft > 1) pass(incoming, outgoing, body, triesLeft - 1)
      else outgoing.writeHead(502).end()
    })
    outgoing.on('close', () => onward.destroy())
    onward.end(body)
  }

  // As many streams as tests want, for as long as they last.
  server.requestTimeout = 0
  // Longer than any client keeps an idle one, for the same reason.
  server.keepAliveTimeout = 600_000
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', 1_024, resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counts,
    async close() {
      server.closeAllConnections()
      agent.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
