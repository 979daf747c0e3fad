/** The fetch on node:http, loaded on demand. A static import, so that the bundle leaves out the server of the same entry point. */
export { nodeFetch } from '@parley/a2a/node'
