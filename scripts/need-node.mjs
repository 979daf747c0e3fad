/**
 * Reports in one sentence that Node is too old, instead of letting the first TypeScript
 * file fail with an obscure error. Preloaded (`node --import`), plain JavaScript, without
 * anything that Node 20 does not have.
 */
const needed = 24
const found = Number(process.versions.node.split('.')[0])

if (found < needed) {
  console.error(
    `Parley needs Node ${needed} or newer and this is Node ${process.versions.node}: run "npm ci" without --omit=optional ` +
      `(on Linux x64 and arm64 it brings the pinned Node), or install Node ${needed} yourself.`,
  )
  process.exit(1)
}
