/**
 * A port for a program that needs a fixed one, or that restarts on the same one. Below the ephemeral range of the system
 * (32768 and up on Linux, 49152 elsewhere): a port of that range could be taken by the next outgoing connection.
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

/** The first of several free ports in a row. */
export async function freePortBlock(size: number): Promise<number> {
  for (;;) {
    const first = await freePort()
    const isFreePort = await Promise.all(Array.from({ length: size }, (_, offset) => isFree(first + offset)))
    if (isFreePort.every(Boolean)) return first
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
