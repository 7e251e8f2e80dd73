// Made by `npm run generate` from the migrated databases. Do not edit.

/** Rows of the tables of the directory. */
export interface DirectoryRows {
  apps: {
    app_no: number
    app_id: string
    name: string
    cell_id: string
    state: string
    created_at: Date
  }
  cells: {
    cell_id: string
    region: string
    url_sealed: Buffer
    accepts_apps: boolean
    created_at: Date
  }
  regions: {
    region: string
  }
}

/** Rows of the tables of a cell. */
export interface CellRows {
  api_keys: {
    app_no: number
    key_hash: Buffer
    key_sealed: Buffer
    name: string
    scope: string
    created_at: Date
  }
  apps: {
    app_no: number
    app_id: string
    settings: unknown
    created_at: Date
  }
  auth_tokens: {
    app_no: number
    token_hash: Buffer
    token_sealed: Buffer
    uid: string
    platform: string | null
    user_agent: string | null
    app_info: unknown | null
    created_at: Date
  }
  blocks: {
    app_no: number
    uid: string
    blocked_uid: string
    created_at: Date
  }
  events: {
    app_no: number
    position: number
    type: string
    key: string
    payload: unknown
    at: Date
    day: string
  }
  friends: {
    app_no: number
    uid: string
    friend_uid: string
    created_at: Date
  }
  idempotency: {
    app_no: number
    credential: Buffer
    uid: string
    key: string
    request_hash: Buffer
    answer_sealed: Buffer | null
    created_at: Date
  }
  leases: {
    job: string
    worker_id: string
    epoch: number
  }
  outbox: {
    id: number
    app_no: number
    type: string
    key: string
    payload: unknown
    at: Date
  }
  positions: {
    app_no: number
    position: number
  }
  revocations: {
    at: Date
    app_no: number
    kind: string
    id: string
  }
  roles: {
    app_no: number
    role: string
    name: string
    description: string | null
    metadata: unknown | null
    settings: unknown | null
    built_in: boolean
    created_at: Date
    updated_at: Date | null
    removed_at: Date | null
  }
  totals: {
    app_no: number
    what: string
    shard: number
    total: number
  }
  users: {
    app_no: number
    uid: string
    name: string
    name_key: string
    avatar: string | null
    link: string | null
    role: string
    status_message: string | null
    metadata: unknown | null
    tags: string[]
    last_active_at: Date | null
    created_at: Date
    updated_at: Date | null
    deactivated_at: Date | null
    removed_at: Date | null
  }
  workers: {
    worker_id: string
    expires_at: Date
  }
}
