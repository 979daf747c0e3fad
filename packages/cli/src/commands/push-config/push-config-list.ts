/** `a2a task push-config list`: the push notification configs of a task; with `--stream` one per line. */
import { toProtoJson } from '@parley/a2a/internal'
import type { CommandContext } from '../../command.ts'
import { field } from '../../output/text.ts'
import { pushConfigText } from '../../push/push-config-text.ts'

export async function run(context: CommandContext): Promise<void> {
  const { args, output, signal } = context
  const [taskId = ''] = args.operands
  const connection = await context.connect()
  try {
    const response = await connection.agent.push.list(taskId, { signal })
    const { configs } = response
    if (output.format === 'text')
      return await output.text([field('Configs', String(configs.length)), ...configs.map(pushConfigText)].join('\n'))
    if (!output.isStream) return await output.document(toProtoJson('ListTaskPushNotificationConfigsResponse', response))
    for (const config of configs) await output.line(toProtoJson('TaskPushNotificationConfig', config))
  } finally {
    await connection.close()
  }
}
