/** Whether a port can be used, before anything is created that a refused start would leave behind. */
import { createServer } from 'node:net'
import type { HubConfig } from '../config/hub-config.ts'
import { sharedGrpcPort } from '../config/sections/listen.ts'
import { CliError } from './command.ts'

/** Why a program cannot listen there; `undefined` if it can. */
export function listenError(host: string, port: number): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', resolve)
    server.listen(port, host, () => server.close(() => resolve(undefined)))
  })
}

/** Throws CliError. */
export async function requirePorts(listen: HubConfig['listen']): Promise<void> {
  const { host } = listen
  const ports = [
    ['--port', listen.port],
    ['--grpc-port', sharedGrpcPort(listen)],
  ] as const
  for (const [flag, number] of ports) {
    const error = number === false ? undefined : await listenError(host, number)
    if (error?.code === 'EADDRINUSE') throw new CliError(portInUseText(Number(number), flag))
    if (error !== undefined)
      throw new CliError(`${error.message}: choose another address with --host, or another port with ${flag}.`)
  }
}

export function portInUseText(port: number, flag: string): string {
  return `Port ${port} is already in use: choose another with ${flag}.`
}
