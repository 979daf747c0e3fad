/** `a2a task push-config delete`: removes a webhook of a task. */
import type { CommandContext } from '../../command.ts'
import { field } from '../../output/text.ts'

export async function run(context: CommandContext): Promise<void> {
  const { args, output, signal } = context
  const [taskId = '', id = ''] = args.operands
  const connection = await context.connect()
  try {
    await connection.agent.push.delete(taskId, id, { signal })
    if (output.format === 'json') await output.document({ deleted: true, taskId, id })
    else await output.text(field('Task ID', taskId) + field('Config ID', id) + field('Deleted', 'yes'))
  } finally {
    await connection.close()
  }
}
