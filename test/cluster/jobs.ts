/**
 * Work that continues while the replica that requested it is dead: counting jobs in a separate process. A client that knows a
 * job's id may follow it from any number on. It records how often each job was started.
 */
import { createServer } from 'node:http'
import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export interface Job {
  readonly until: number
  readonly paceMs: number
  readonly startedAt: number
  starts: number
}

export async function openJobs() {
  const jobs = new Map<string, Job>()

  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://jobs')
    const id = pathname.slice(1)
    const number = (name: string): number => Number(searchParams.get(name))
    if (request.method === 'POST') {
      const known = jobs.get(id)
      if (known === undefined) {
        jobs.set(id, { until: number('until'), paceMs: number('pace'), startedAt: Date.now(), starts: 1 })
      } else known.starts += 1
      response.end()
      return
    }
    const job = jobs.get(id)
    if (job === undefined) response.writeHead(404).end()
    else void streamCount(job, number('from'), response)
  })
  // A job that is followed until it ends.
  server.requestTimeout = 0
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    jobs: jobs as ReadonlyMap<string, Job>,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** One line for each number: past ones at once, the others as they come. */
async function streamCount({ until, paceMs, startedAt }: Job, from: number, response: ServerResponse): Promise<void> {
  response.writeHead(200)
  response.flushHeaders()
  for (let n = from; n < until && !response.destroyed; n += 1) {
    const dueIn = startedAt + n * paceMs - Date.now()
    if (dueIn > 0) await sleep(dueIn)
    response.write(`${n}\n`)
  }
  response.end()
}
