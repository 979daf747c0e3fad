/** `a2a task push-config create`: registers a webhook for a task. */
import { urlOfAddress } from '@parley/a2a/internal'
import type { CommandContext } from '../../command.ts'
import { usageError } from '../../output/cli-error.ts'
import { printPushConfig } from '../../push/print-push-config.ts'

export async function run(context: CommandContext): Promise<void> {
  const { args, settings, output, signal } = context
  const [taskId = ''] = args.operands
  const given = settings.value('url')
  if (given === undefined) throw usageError('--url is missing: the webhook to register.')
  const url = /^[^/]+:\d+(\/|$)/.test(given) ? urlOfAddress(given) : given
  if (!URL.canParse(url)) throw usageError(`--url ${url}: not a URL.`)
  const id = settings.value('id')
  const token = settings.value('token')
  const scheme = settings.value('auth-scheme')
  const credentials = settings.value('auth-credentials')
  if (credentials !== undefined && scheme === undefined) throw usageError('--auth-credentials needs --auth-scheme.')
  const connection = await context.connect()
  try {
    for (const name of ['token', 'auth-credentials']) connection.checkProjectTrust(name)
    const config = await connection.agent.push.set(
      taskId,
      {
        url,
        ...(id !== undefined ? { id } : {}),
        ...(token !== undefined ? { token } : {}),
        ...(scheme !== undefined
          ? { authentication: { scheme, ...(credentials !== undefined ? { credentials } : {}) } }
          : {}),
      },
      { signal },
    )
    await printPushConfig(output, config)
  } finally {
    await connection.close()
  }
}
