/** `a2a task push-config get`: shows one push notification config of a task. */
import type { CommandContext } from '../../command.ts'
import { printPushConfig } from '../../push/print-push-config.ts'

export async function run(context: CommandContext): Promise<void> {
  const [taskId = '', configId] = context.args.operands
  const connection = await context.connect()
  try {
    const config = await connection.agent.push.get(taskId, configId, { signal: context.signal })
    await printPushConfig(context.output, config)
  } finally {
    await connection.close()
  }
}
