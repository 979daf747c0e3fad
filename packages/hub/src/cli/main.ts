#!/usr/bin/env node
/** The `parley` command. The only file that reads the environment and knows the process. */
import type { Terminal } from './command.ts'

const [major = 0] = process.versions.node.split('.').map(Number)
if (major < 24) {
  console.error(`Parley needs Node 24 or newer; this is ${process.versions.node}.`)
  process.exit(1)
}

/** Whatever still runs then: longer than a hub needs to drain and to give up a database that does not answer. */
const goneAfterMs = 30_000
const endings = ['SIGINT', 'SIGTERM'] as const

const terminal: Terminal = {
  environment: process.env,
  cwd: process.cwd(),
  say: (line) => console.log(line),
  complain: (line) => console.error(line),
  isRead: process.stderr.isTTY,
  isTerminal: process.stdout.isTTY,
  get input() {
    return process.stdin
  },
  get output() {
    return process.stdout
  },
  untilToldToEnd: () =>
    new Promise((resolve) => {
      for (const signal of endings) {
        process.once(signal, () => {
          // Who asks twice does not want to wait.
          for (const again of endings) process.once(again, () => process.exit(1))
          setTimeout(() => process.exit(1), goneAfterMs).unref()
          resolve()
        })
      }
    }),
  onHangUp: (listener) => void process.on('SIGHUP', listener),
}

// Loaded only now, so that an old Node hears the sentence above and not of syntax that it does not know.
const { runCommand } = await import('./run-command.ts')
const code = await runCommand(process.argv.slice(2), terminal)
// Not before what was said is out.
process.stdout.write('', () => process.exit(code))
