/** One run of the official conformance kit against one address, and the outcome of each of its tests. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'

export interface KitRun {
  /** The checkout of the kit. */
  readonly kit: string
  /** A Python with the dependencies of the kit. */
  readonly python: string
  readonly url: string
  /** The JUnit file to write. */
  readonly report: string
  /** For pytest's `-k`. Default: all tests. */
  readonly select?: string | undefined
}

/** The tests by outcome, each as `module::Class::test[parameters]`, or `folder::module::test[parameters]` without a class. */
export interface KitResult {
  readonly passed: readonly string[]
  readonly failed: readonly string[]
  readonly skipped: readonly string[]
}

export async function runKit({ kit, python, url, report, select }: KitRun): Promise<KitResult> {
  const args = ['-m', 'pytest', 'tests/compatibility/', '-q', '--tb=no', '-p', 'no:cacheprovider']
  const about = [`--sut-host=${url}`, '--transport=jsonrpc,http_json,grpc', `--junitxml=${report}`]
  const child = spawn(python, [...args, ...about, ...(select === undefined ? [] : ['-k', select])], {
    cwd: kit,
    env: { ...process.env, PYTHONWARNINGS: 'ignore' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const output: string[] = []
  child.stdout.setEncoding('utf8').on('data', (text: string) => output.push(text))
  await once(child, 'close')
  // A failed test is a result; a kit that wrote none has not run.
  if (!existsSync(report)) throw new Error(`The kit did not run:\n${output.join('')}`)
  return readReport(readFileSync(report, 'utf8'))
}

const testcase = /<testcase classname="([^"]*)" name="([^"]*)"[^>]*?(?:\/>|>([\s\S]*?)<\/testcase>)/g

export function readReport(xml: string): KitResult {
  const result = { passed: [] as string[], failed: [] as string[], skipped: [] as string[] }
  for (const [, classname = '', name = '', body = ''] of xml.matchAll(testcase)) {
    const outcome = /<(failure|error)\b/.test(body) ? 'failed' : body.includes('<skipped') ? 'skipped' : 'passed'
    result[outcome].push(`${classname.split('.').slice(-2).join('::')}::${name}`)
  }
  return result
}
