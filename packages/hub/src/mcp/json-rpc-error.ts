/** A request to `/mcp` that is rejected before any tool runs: a JSON-RPC error with an HTTP status. */
export function jsonRpcErrorResponse(
  status: number,
  message: string,
  code = -32_000,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status, headers })
}
