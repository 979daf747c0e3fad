/** How-to guides on building and connecting agents work as printed. */
import { join } from 'node:path'
import { describePage } from './describe-page.ts'
import { root } from './page-steps.ts'

describePage('docs/guides/call-with-curl.md')
describePage('docs/guides/check-an-agent.md')
describePage('docs/guides/coding-agents.md')
describePage('docs/guides/cli-server.md', { ports: [8080] })
describePage('docs/guides/serve-options.md', { packages: ['@parley/a2a', 'express'] })
describePage('docs/guides/express-rxjs.md', { packages: ['@parley/a2a', '@parley/cli', 'express', 'rxjs'] })
describePage('docs/guides/nestjs.md', {
  packages: [
    '@parley/a2a',
    '@parley/cli',
    ...['@nestjs/common', '@nestjs/core', '@nestjs/platform-express', 'reflect-metadata', 'rxjs'],
    ...['typescript', '@types/node', '@types/express'],
  ],
})
describePage('docs/guides/ollama.md', {
  ports: [3000, 3001, 11434],
  standIns: {
    // The scripted model has the same API; it lists its model under another name.
    ollama: `test "$1" = serve || exit 0
sed 's/scripted/llama3.2/; s|A llama3.2 model is at http://|Listening on |' '${join(root, 'examples/hub/model.ts')}' > "$HOME/model.ts"
PORT=11434 exec node "$HOME/model.ts"`,
  },
})
describePage('docs/guides/claude-code-acp.md', {
  standIns: {
    // An agent on the SDK of the Agent Client Protocol stands in for Claude Code. The hub needs this npx in its PATH, too.
    npx: `case "$*" in *claude-agent-acp*) exec node --conditions=parley-source '${join(root, 'test/agents/programs/acp-agent.ts')}' ;; esac
exec "$(PATH="\${PATH#*:}" command -v npx)" "$@"`,
  },
})
