/**
 * `npm run ha -- start`: three hubs, PostgreSQL with a synchronous standby, and HAProxy on this machine, in the foreground. Ctrl+C
 * stops them; the next start continues with the same data. The guide is docs/guides/high-availability.md.
 */
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { listenForCommands, readStatus, sendCommand } from './control.ts'
import { createDeployment, describeStatus } from './deployment.ts'
import { openSettings, recipe } from './settings.ts'

const usage = `npm run ha -- start      start everything, and stop it with Ctrl+C
npm run ha -- status     what runs, and which server is the primary
npm run ha -- failover   stop the primary for good and promote the standby (--force: although it may lack data)
npm run ha -- rejoin     make the former primary a synchronous standby

--data <folder>          default ./ha-data
--port <number>          the first of ten ports, default 8080
--config <file>          of the hubs, default deploy/high-availability/parley.yaml
--hub <command>          default: the hub of this repository`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    data: { type: 'string', default: 'ha-data' },
    port: { type: 'string', default: '8080' },
    config: { type: 'string', default: join(recipe, 'parley.yaml') },
    hub: { type: 'string' },
    force: { type: 'boolean', default: false },
  },
})
const data = resolve(values.data)
const program = join(recipe, '../../packages/hub/src/cli/main.ts')

try {
  await run(positionals[0] ?? '')
} catch (error) {
  console.error((error as Error).message)
  process.exitCode = 1
}

async function run(command: string): Promise<void> {
  if (command === 'start') return start()
  if (command !== 'status' && command !== 'failover' && command !== 'rejoin') {
    console.log(usage)
    process.exitCode = command === '' || command === 'help' ? 0 : 2
    return
  }
  const isForced = command === 'failover' && values.force
  const answer = await sendCommand(data, isForced ? 'failover --force' : command)
  const status = await readStatus(data)
  if (answer === undefined || status === undefined) throw new Error(`nothing runs in ${data}: npm run ha -- start`)
  console.log(command === 'status' ? describeStatus(status, data) : answer)
}

async function start(): Promise<void> {
  if ((await readStatus(data)) !== undefined) throw new Error(`it runs in ${data} already`)
  const settings = openSettings({
    data,
    port: Number(values.port),
    config: resolve(values.config),
    hub: values.hub?.split(' ') ?? [process.execPath, '--conditions=parley-source', program],
  })
  const deployment = createDeployment(settings, (line) => console.log(line))
  const control = await listenForCommands(data, deployment)

  let stopping: Promise<void> | undefined
  const stop = (): void => {
    stopping ??= deployment.stop().finally(() => {
      control.close()
      process.exit()
    })
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop)
  try {
    await deployment.start()
  } catch (error) {
    console.error((error as Error).message)
    process.exitCode = 1
    stop()
    return
  }
  if (stopping !== undefined) return
  console.log(describeStatus(deployment.status(), data))
  console.log('Stop with Ctrl+C.')
}
