/** The fixed lines of an exported test. */
export const testFileStrings = {
  name: (agent: string, message: string) => `${agent} answers ${message} as recorded`,
  head: (taskId: string, origin: string) => [
    `/** Task ${taskId} as a test: node --test <this file> */`,
    `import assert from 'node:assert/strict'`,
    `import { it } from 'node:test'`,
    `import { connect } from '@parley/a2a/client'`,
    '',
    `const url = process.env.PARLEY_URL ?? ${origin}`,
    `const key = process.env.PARLEY_KEY`,
    '',
  ],
  connect: (path: string) => `  const agent = await connect(url + ${path}, key ? { bearer: key } : {})`,
  declared: 'let task',
  helpers: [
    `function textIn(parts = []) {`,
    `  return parts.map((part) => part.text ?? '').join('')`,
    `}`,
    '',
    `function textsOf(artifacts = []) {`,
    `  return artifacts.map(({ name, parts }) => ({ ...(name === undefined ? {} : { name }), text: textIn(parts) }))`,
    `}`,
    '',
  ],
} as const
