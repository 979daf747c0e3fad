/**
 * A port for a program that needs a fixed one, or that restarts on the same one. Below the ephemeral range of the system
 * (32768 and up on Linux, 49152 elsewhere): a port of that range could be taken by the next outgoing connection. Until this
 * process ends, no other process gets the same one: a UDP socket of another range is the lock, which the system also releases
 * after a kill. Not of the same number, which a proxy needs for HTTP/3.
 */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'

const lowest = 20_000
const count = 12_000
const lockOffset = -15_000

export const freePort = (): Promise<number> => freePortBlock(1)

/** The first of several free ports in a row. */
export async function freePortBlock(size: number): Promise<number> {
  for (;;) {
    const first = lowest + Math.floor(Math.random() * count)
    const ports = Array.from({ length: size }, (_, offset) => first + offset)
    if ((await Promise.all(ports.map(claim))).every(Boolean)) return first
  }
}

/** Whether the port is free, and is now this process's. One that is in use stays locked: no test can use it. */
async function claim(port: number): Promise<boolean> {
  const lock = createSocket('udp4').unref()
  const server = createServer()
  try {
    await once(lock.bind({ port: port + lockOffset, address: '127.0.0.1', exclusive: true }), 'listening')
    await once(server.listen(port, '127.0.0.1'), 'listening')
  } catch {
    return false
  }
  server.close()
  await once(server, 'close')
  return true
}
