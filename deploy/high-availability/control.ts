/** A running recipe listens on a Unix socket in its folder, for the commands of another terminal. */
import { rmSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { Server } from 'node:http'
import { text } from 'node:stream/consumers'
import type { HaDeployment, HaStatus } from './deployment.ts'
import { controlSocket } from './settings.ts'

export type ControlCommand = 'status' | 'failover' | 'failover --force' | 'rejoin'

export async function listenForCommands(data: string, deployment: HaDeployment): Promise<Server> {
  /** One at a time: a failover during a rejoin would promote a server that lacks data. */
  let last: Promise<unknown> = Promise.resolve()
  const commands: Readonly<Record<ControlCommand, () => Promise<string>>> = {
    status: () => Promise.resolve(JSON.stringify(deployment.status())),
    failover: () => deployment.failover(false),
    'failover --force': () => deployment.failover(true),
    rejoin: () => deployment.rejoin(),
  }
  const server = createServer((incoming, outgoing) => {
    void text(incoming).then(async (name) => {
      try {
        if (!Object.hasOwn(commands, name)) throw new Error(`unknown command: ${name}`)
        const command = commands[name as ControlCommand]
        const result = name === 'status' ? command() : last.then(command, command)
        if (name !== 'status') last = result
        outgoing.end(await result)
      } catch (error) {
        outgoing.writeHead(500).end((error as Error).message)
      }
    })
  })
  const path = controlSocket(data)
  rmSync(path, { force: true })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(path, resolve))
  return server
}

/** `undefined` if nothing runs in this folder. */
export async function sendCommand(data: string, command: ControlCommand): Promise<string | undefined> {
  const answer = Promise.withResolvers<string | undefined>()
  const outgoing = request({ socketPath: controlSocket(data), method: 'POST' }, (incoming) => {
    text(incoming).then((body) => {
      if (incoming.statusCode === 200) answer.resolve(body)
      else answer.reject(new Error(body))
    }, answer.reject)
  })
  outgoing.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ECONNREFUSED') answer.resolve(undefined)
    else answer.reject(error)
  })
  outgoing.end(command)
  return answer.promise
}

export async function readStatus(data: string): Promise<HaStatus | undefined> {
  const found = await sendCommand(data, 'status')
  return found === undefined ? undefined : (JSON.parse(found) as HaStatus)
}
