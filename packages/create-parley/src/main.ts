#!/usr/bin/env node
/** The command `create-parley`, which `npm create parley [folder]` runs. The only file here that accesses the process. */

const [major = 0] = process.versions.node.split('.').map(Number)
if (major < 24) {
  console.error(`create-parley requires Node 24 or newer; found ${process.versions.node}.`)
  process.exit(1)
}

// Loaded only now, so that an old Node prints the message above.
const { runCreate } = await import('./run-create.ts')
process.exitCode = await runCreate(process.argv.slice(2), {
  cwd: process.cwd(),
  print: (line) => console.log(line),
  printError: (line) => console.error(line),
})
