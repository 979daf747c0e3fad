/**
 * Runs test files one after another in this process: `run-files-in-turn.ts <claims> <file>...`. Node's own
 * `--test-isolation=none` loads all files before the first test runs, and with them every server that a `describe` starts.
 * Several processes may get the same list and the same folder of claims: each file runs in the process that claims it first.
 */
import { openSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { it } from 'node:test'
import { pathToFileURL } from 'node:url'

const [claims = '', ...files] = process.argv.slice(2)

for (const [index, file] of files.entries()) {
  // The tests of the file become tests of this one. The reporters count only them (reporters/failure.ts).
  it(file, async () => {
    if (canClaim(index)) await import(pathToFileURL(resolve(file)).href)
  })
}

function canClaim(index: number): boolean {
  try {
    openSync(join(claims, String(index)), 'wx')
    return true
  } catch {
    return false
  }
}
