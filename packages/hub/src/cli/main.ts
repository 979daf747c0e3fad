#!/usr/bin/env node
/** The `parley` command. The only file that reads the environment and accesses the process. */
import { isatty } from 'node:tty'
import type { ProcessTerminal } from './command.ts'

const [major = 0] = process.versions.node.split('.').map(Number)
if (major < 24) {
  console.error(`Parley requires Node 24 or newer; found ${process.versions.node}.`)
  process.exit(1)
}

// Keeps compiled modules between starts, and sources without their types: half the time of a start. Node compares the content of
// each file, so a change is compiled anew. In the user's own folder, since code from a folder that others can write, such as /tmp,
// would run in the hub. NODE_COMPILE_CACHE names another folder, NODE_DISABLE_COMPILE_CACHE turns it off.
// Imported only now: an old Node would print a syntax error instead of the message above.
const { privateCacheFolder } = await import('@parley/cli/internal')
const cacheFolder = privateCacheFolder('parley', process.env['XDG_CACHE_HOME'], process.getuid?.())
if (cacheFolder !== undefined) (await import('node:module')).enableCompileCache(cacheFolder)

/** Forced exit: longer than a hub needs to drain and to give up on a database that does not answer. */
const forceExitMs = 30_000
const shutdownSignals = ['SIGINT', 'SIGTERM'] as const

const args = process.argv.slice(2)
// Loaded only now, for the same reason.
if (args[0] === 'a2a') {
  // Its own path: loading the commands of the hub takes longer than a call of an agent.
  const [{ runInProcess }, { programName }] = await Promise.all([import('@parley/cli'), import('./command-text.ts')])
  await runInProcess(process, args.slice(1), `${programName(process.env)} a2a`)
} else {
  const { runCli } = await import('./run.ts')
  const code = await runCli(args, hubTerminal())
  // Exits after the output is flushed.
  process.stdout.write('', () => process.exit(code))
}

function hubTerminal(): ProcessTerminal {
  return {
    environment: process.env,
    cwd: process.cwd(),
    print: (line) => console.log(line),
    printError: (line) => console.error(line),
    writeError: (text) => void process.stderr.write(text),
    isErrorTerminal: process.stderr.isTTY,
    isOutputTerminal: process.stdout.isTTY,
    columns: process.stdout.columns,
    get input() {
      return process.stdin
    },
    get output() {
      return process.stdout
    },
    untilShutdown: () =>
      new Promise((resolve) => {
        for (const signal of shutdownSignals) {
          process.once(signal, () => {
            // A second signal exits at once.
            for (const again of shutdownSignals) process.once(again, () => process.exit(1))
            setTimeout(() => process.exit(1), forceExitMs).unref()
            resolve()
          })
        }
      }),
    onReload(listener) {
      const isOutputTerminal = process.stdout.isTTY
      // The kernel and the shell both send it when a terminal is closed. A hub that kept running would hold its port and have no
      // terminal to be stopped from.
      let isClosed = false
      process.on('SIGHUP', () => {
        if (!isOutputTerminal || isatty(process.stdout.fd)) return listener()
        if (!isClosed) process.kill(process.pid, 'SIGTERM')
        isClosed = true
      })
    },
  }
}
