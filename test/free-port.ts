/**
 * A port for a program that has to be told one, or that comes again at the same. Below those that the system hands out by
 * itself (32768 and up on Linux, 49152 elsewhere): one of those would be given to the next connection that is opened.
 */
import { once } from 'node:events'
import { createServer } from 'node:net'

const lowest = 20_000
const count = 12_000
const given = new Set<number>()

export async function freePort(): Promise<number> {
  for (;;) {
    const port = lowest + Math.floor(Math.random() * count)
    if (given.has(port) || !(await isFree(port))) continue
    given.add(port)
    return port
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch {
    return false
  }
  server.close()
  await once(server, 'close')
  return true
}
