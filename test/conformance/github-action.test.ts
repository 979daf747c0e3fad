/** The GitHub action runs `a2a conformance` with its inputs, writes the reports, and fails the job as the program does. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { Server } from '@parley/a2a/node'
import { parse } from 'yaml'
import { callerToken, openLiveServer } from './live-server.ts'

interface Action {
  readonly inputs: Readonly<
    Record<string, { readonly description: string; readonly default?: string; readonly required?: boolean }>
  >
  readonly runs: {
    readonly steps: readonly { readonly run?: string; readonly env?: Readonly<Record<string, string>> }[]
  }
}

const root = join(import.meta.dirname, '../..')
const action = parse(readFileSync(join(root, 'packages/cli/github-action/action.yml'), 'utf8')) as Action
const step = action.runs.steps.find(({ run }) => run !== undefined)

/** As a runner does: each variable has the input that its expression names. */
async function runAction(
  inputs: Readonly<Record<string, string>>,
): Promise<{ readonly code: number; readonly folder: string; readonly summary: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-action-'))
  const summaryFile = join(folder, 'summary.md')
  // In place of npx: the program of this repository. Its arguments follow `a2a`.
  const npx = join(folder, 'npx')
  const program = `"${process.execPath}" --conditions=parley-source "${join(root, 'packages/cli/src/main.ts')}"`
  writeFileSync(npx, `#!/bin/bash\nwhile [ "$1" != a2a ]; do shift; done\nshift\nexec ${program} "$@"\n`)
  chmodSync(npx, 0o755)
  const values = Object.entries(step?.env ?? {}).map(([name, expression]) => {
    const input = /^\$\{\{ inputs\.([a-z0-9-]+) \}\}$/.exec(expression)?.[1] ?? ''
    return [name, inputs[input] ?? action.inputs[input]?.default ?? ''] as const
  })
  const env = {
    ...Object.fromEntries(values),
    PATH: `${folder}${delimiter}${process.env['PATH']}`,
    HOME: folder,
    GITHUB_STEP_SUMMARY: summaryFile,
  }
  const code = await new Promise<number>((resolve) => {
    execFile('bash', ['-c', step?.run ?? ''], { cwd: folder, env }, (error) =>
      resolve(error === null ? 0 : Number(error.code)),
    )
  })
  return { code, folder, summary: readFileSync(summaryFile, 'utf8') }
}

describe('the GitHub action', () => {
  let server: Server
  const folders: string[] = []
  before(async () => {
    server = await openLiveServer()
  })
  after(async () => {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true })
    await server.close()
  })

  it('passes every input to the script by a variable, and none as text of it', () => {
    const passed = Object.values(step?.env ?? {}).map(
      (expression) => /inputs\.([a-z0-9-]+)/.exec(expression)?.[1] ?? '',
    )
    assert.deepEqual(passed.toSorted(), Object.keys(action.inputs).toSorted())
    assert.doesNotMatch(step?.run ?? '', /\$\{\{/)
  })

  it('succeeds, with three reports and a summary; the token is in none of them', async () => {
    const { code, folder, summary } = await runAction({
      url: server.url,
      only: 'card.* get.unknown-task',
      'a2a-version': '1.0',
      binding: 'jsonrpc rest',
      bearer: callerToken,
    })
    folders.push(folder)
    assert.equal(code, 0)
    const [json = '', xml = '', markdown = ''] = ['json', 'xml', 'md'].map((type) =>
      readFileSync(join(folder, `a2a-conformance/report.${type}`), 'utf8'),
    )
    const report = JSON.parse(json) as {
      readonly results: readonly { readonly id: string; readonly binding?: string }[]
    }
    assert.deepEqual(
      new Set(report.results.map(({ binding }) => binding)),
      new Set([undefined, 'JSONRPC', 'HTTP+JSON']),
    )
    assert.match(xml, /failures="0"/)
    assert.equal(summary, markdown)
    assert.doesNotMatch(json + xml + markdown, new RegExp(callerToken))
  })

  it('fails as the program does', async () => {
    const { code, folder, summary } = await runAction({
      url: server.url,
      only: 'version.missing-is-not-1.0',
      'read-only': 'true',
      bearer: callerToken,
    })
    folders.push(folder)
    assert.equal(code, 1)
    assert.match(summary, /## Failures/)
  })
})
