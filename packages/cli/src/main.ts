#!/usr/bin/env node
/** The program `a2a`. The only file that accesses the process. */
import { enableCompileCache } from 'node:module'
import { privateCacheFolder } from './private-cache-folder.ts'

const [major = 0] = process.versions.node.split('.').map(Number)
if (major < 24) {
  console.error(`a2a requires Node 24 or newer; found ${process.versions.node}.`)
  process.exit(1)
}

// Keeps compiled code between starts: coding agents run the program in loops. NODE_DISABLE_COMPILE_CACHE turns it off.
const cacheFolder = privateCacheFolder('a2a-cli', process.env['XDG_CACHE_HOME'], process.getuid?.())
if (cacheFolder !== undefined) enableCompileCache(cacheFolder)

// Loaded only now, so that an old Node prints the message above, and from the cache.
const { runInProcess } = await import('./process-terminal.ts')
// For the commands that it prints: a clone has no `a2a` in the path (scripts/caller-folder.mjs), and where npm runs it there may be none.
const { A2A_COMMAND: command, npm_lifecycle_event: script } = process.env
await runInProcess(process, process.argv.slice(2), command ?? (script === undefined ? 'a2a' : 'npx @parley/cli'))
