/** A command of `parley` in this process, where the process is not the subject: one of its own takes half a second of CPU time. */
import { runCli } from '../../packages/hub/src/cli/run.ts'
import { createTestTerminal } from '../../packages/hub/src/cli/testing/test-terminal.ts'

export async function runInProcess(
  cwd: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<{ readonly code: number; readonly lines: readonly string[] }> {
  const terminal = createTestTerminal({ cwd, environment })
  const code = await runCli([...args], terminal)
  return { code, lines: [...terminal.printed, ...terminal.errors].flatMap((text) => text.split('\n')) }
}
