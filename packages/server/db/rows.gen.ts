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
    archived_at: Date | null
    purge_at: Date | null
  }
  attempts: {
    subject: string
    count: number
    since: Date
  }
  audit: {
    id: number
    at: Date
    operator_no: number | null
    email: string | null
    via: string
    app_no: number | null
    app_id: string | null
    action: string
    target: unknown
    before: unknown | null
    after: unknown | null
    address: string | null
    user_agent: string | null
  }
  audit_outcomes: {
    id: number
    status: number
  }
  break_counter: {
    break_no: number
  }
  cells: {
    cell_id: string
    region: string
    url_sealed: Buffer
    accepts_apps: boolean
    synchronous: boolean
    created_at: Date
  }
  collaborators: {
    app_no: number
    operator_no: number
    role: string
    created_at: Date
  }
  erasures: {
    app_no: number
    id: number
    uid_hash: Buffer
    uid_sealed: Buffer
    mode: string
    state: string
    created_at: Date
    completed_at: Date | null
    runs: number
    receipt: unknown | null
  }
  idempotency: {
    operator_no: number
    key: string
    request_hash: Buffer
    answer_sealed: Buffer | null
    created_at: Date
  }
  invitations: {
    app_no: number
    email: string
    role: string
    token_hash: Buffer
    created_at: Date
    expires_at: Date
  }
  log_witnesses: {
    cell_id: string
    system_id: string
    timeline: number
    wal_position: number
    taken: number
    break_no: number
    seen_at: Date
  }
  media_servers: {
    address: string
    drained: boolean
    created_at: Date
    region: string | null
  }
  operator_keys: {
    key: string
    operator_no: number
    secret_hash: Buffer
    name: string
    created_at: Date
  }
  operator_sessions: {
    token_hash: Buffer
    session_id: string
    operator_no: number
    address: string
    user_agent: string
    created_at: Date
    seen_at: Date
    expires_at: Date
    failures: number
  }
  operators: {
    operator_no: number
    email: string
    name: string
    password_hash: string
    totp_sealed: Buffer | null
    totp_pending_sealed: Buffer | null
    totp_step: number
    created_at: Date
    disabled_at: Date | null
  }
  recovery_codes: {
    operator_no: number
    code_hash: Buffer
  }
  regions: {
    region: string
  }
}

/** Rows of the tables of a cell. */
export interface CellRows {
  agent_blocks: {
    app_no: number
    kind: string
    slug: string
    definition: unknown
    secret_sealed: Buffer | null
    listed: string | null
    listed_digest: string | null
    listed_at: Date | null
    created_at: Date
    updated_at: Date
  }
  agent_budgets: {
    app_no: number
    run_tokens: number | null
    run_money: number | null
    user_day_tokens: number | null
    user_day_money: number | null
    app_month_tokens: number | null
    app_month_money: number | null
    user_day_calls: number | null
    app_month_calls: number | null
  }
  agent_handovers: {
    app_no: number
    handover_id: string
    agent_uid: string
    uid: string
    conversation: number
    opened_by: string
    reason: string | null
    taken_by: string | null
    upto_id: number | null
    opened_at: Date
    taken_at: Date | null
    answered_at: Date | null
    hand_back_at: Date | null
    closed_at: Date | null
    closed_by: string | null
  }
  agent_progress: {
    app_no: number
    position: number
  }
  agent_ratings: {
    app_no: number
    rating_id: string
    run_id: string
    uid: string
    agent_uid: string
    revision: number | null
    up: boolean
    comment: string | null
    created_at: Date
    updated_at: Date
  }
  agent_replays: {
    app_no: number
    replay_id: string
    run_id: string
    mode: string
    revision: number | null
    changes: unknown | null
    job_id: number | null
    state: string
    reason: string | null
    error: string | null
    answer: string | null
    verdict: unknown | null
    created_at: Date
    started_at: Date | null
    ended_at: Date | null
  }
  agent_revisions: {
    app_no: number
    agent_uid: string
    no: number
    content: unknown
    changed: string[]
    operator: string | null
    api_key: string | null
    restores: number | null
    created_at: Date
  }
  agent_runs: {
    app_no: number
    run_id: string
    agent_uid: string
    uid: string
    conversation: number
    guid: string | null
    message_id: number
    thread_id: number
    job_id: number | null
    revision: number | null
    state: string
    reason: string | null
    error: string | null
    answer_id: number | null
    waiting_since: Date | null
    waited_ms: number
    created_at: Date
    started_at: Date | null
    ended_at: Date | null
  }
  agent_sources: {
    app_no: number
    agent_uid: string
    source_id: string
  }
  agent_spending: {
    app_no: number
    uid: string
    period: string
    tokens: number
    money: number
    calls: number
    replay_tokens: number
    replay_money: number
  }
  agent_steps: {
    app_no: number
    run_id: string
    no: number
    attempt: number
    kind: string
    state: string
    provider_id: string | null
    model: string | null
    text: string | null
    calls: unknown | null
    tool: string | null
    display_name: string | null
    call_id: string | null
    arguments: string | null
    result: string | null
    waits_for: string | null
    approved_at: Date | null
    input_tokens: number | null
    output_tokens: number | null
    reserved_tokens: number | null
    reserved_money: number | null
    charged_tokens: number | null
    charged_money: number | null
    error: string | null
    started_at: Date
    ended_at: Date | null
  }
  agents: {
    app_no: number
    uid: string
    kind: string
    name: string
    active: boolean
    definition: unknown
    headers_sealed: Buffer | null
    revision: number
    last_message_at: Date | null
    created_at: Date
    updated_at: Date
    deleted_at: Date | null
  }
  api_keys: {
    app_no: number
    key_hash: Buffer
    key_sealed: Buffer
    name: string
    scope: string
    created_at: Date
  }
  app_pins: {
    app_no: number
    place: number
    kind: string
    id: string
    pinned_at: Date
  }
  apps: {
    app_no: number
    app_id: string
    settings: unknown
    ceilings: unknown
    created_at: Date
    archived_at: Date | null
    suspended_at: Date | null
    throttle: number | null
    search_upto: number
    special_roles: boolean
    moderation: string | null
  }
  auth_tokens: {
    app_no: number
    token_hash: Buffer
    token_sealed: Buffer
    uid: string
    platform: string | null
    user_agent: string | null
    app_info: unknown | null
    audit_id: number | null
    created_at: Date
  }
  bans: {
    app_no: number
    guid: string
    uid: string
    scope: string | null
    joined_at: Date | null
    banned_at: Date
    until: Date | null
  }
  blocks: {
    app_no: number
    uid: string
    blocked_uid: string
    created_at: Date
  }
  call_connections: {
    app_no: number
    call_id: number
    uid: string
    no: number
    what: string
    id: string
    server: string
    handle: string
    audio: boolean
    video: boolean
  }
  call_files: {
    app_no: number
    call_id: number
    id: string
    kind: string
    file_id: string
    uid: string | null
    source: string | null
    type: string | null
    mid: string | null
    started_at: Date
    ended_at: Date
    created_at: Date
  }
  call_participants: {
    app_no: number
    call_id: number
    uid: string
    no: number
    state: string
    device_id: string | null
    joined_at: Date | null
    left_at: Date | null
    seen_at: Date | null
    hidden: boolean
  }
  call_recordings: {
    app_no: number
    call_id: number
    id: string
    connection: string
    room: string
    uid: string | null
    source: string
    told: boolean
    started_at: Date
    ended_at: Date | null
  }
  calls: {
    app_no: number
    id: number
    conversation: number
    kind: string
    receiver: string
    initiator: string
    type: string
    mode: string
    status: string
    mid: string
    joined: number
    initiated_at: Date
    started_at: Date | null
    ended_at: Date | null
    lone_since: Date | null
    media_server: string | null
    media_lost_at: Date | null
    media_version: number
    recording_since: Date | null
    recorded: boolean
    transcribed: boolean
  }
  check_settings: {
    app_no: number
    url: string | null
    use_basic_auth: boolean
    username: string | null
    password_sealed: Buffer | null
    secret_sealed: Buffer | null
    old_secret_sealed: Buffer | null
    old_secret_until: Date | null
    timeout_ms: number
    context_messages: number
    on_failure: string
    deadline_seconds: number
    models: unknown
    updated_at: Date
  }
  checked_messages: {
    app_no: number
    id: number
    sender: string
    kind: string
    receiver: string
    category: string
    type: string
    data: unknown
    muid: string | null
    status: string | null
    rule: unknown | null
    edited_at: Date | null
  }
  conversations: {
    app_no: number
    no: number
    kind: string
    one: string
    other: string
    last_id: number
    shown_id: number
    shown_sender: string | null
    shown_data: string | null
    shown_muid: string | null
    delivered_at: Date | null
    read_at: Date | null
    created_second: number | null
    updated_second: number
    updated_before: number
    stored: number
    removed: number
    counted: number
    hidden: number
    purged_id: number
    purged_counted: number
    purging: boolean
    blocked_one: boolean
    blocked_other: boolean
  }
  direct_views: {
    app_no: number
    uid: string
    blocked: boolean
    updated_second: number
    with_id: string
  }
  embedding_calls: {
    app_no: number
    call_id: string
    model: string
    reserved_tokens: number
    charged_tokens: number | null
    started_at: Date
  }
  erasures_done: {
    app_no: number
    id: number
  }
  event_bodies: {
    id: number
    app_no: number
    day: string
    at: Date
    type: string
    key: string
    to_first: string
    to_second: string | null
    active_uid: string | null
    counts_as: string | null
    payload: unknown
  }
  event_positions: {
    position: number
    body_id: number
    app_no: number
    day: string
    body_day: string
    type: string
    to_first: string
    to_second: string | null
  }
  export_parts: {
    app_no: number
    export_id: number
    part: number
    content: Buffer | null
    object: string | null
  }
  exports: {
    app_no: number
    id: number
    uid: string | null
    conversation: number | null
    from_second: number | null
    to_second: number
    in_store: boolean
    parts: number
    bytes: number
    place: unknown | null
    sums: unknown
    created_at: Date
    ended_at: Date | null
  }
  file_kinds: {
    app_no: number
    kind: string
    files: number
    bytes: number
  }
  file_references: {
    app_no: number
    message_id: number
    file_id: string
  }
  file_usage: {
    app_no: number
    uid: string
    files: number
    bytes: number
  }
  files: {
    app_no: number
    id: string
    uid: string | null
    state: string
    name: string
    type: string
    size: number
    stored: number
    part_size: number
    voice: boolean
    picture: boolean
    sha256: Buffer | null
    reason: string | null
    details: unknown | null
    refs: number
    expires_at: Date | null
    upload_ends_at: Date | null
    created_at: Date
  }
  flag_reasons: {
    app_no: number
    reason_id: string
    name: string
    description: string | null
    created_at: Date
    updated_at: Date
  }
  flags: {
    app_no: number
    message_id: number
    uid: string
    reason_id: string
    remark: string | null
    flagged_at: Date
  }
  former_members: {
    app_no: number
    uid: string
    conversation: number
    guid: string
    at: Date
  }
  friends: {
    app_no: number
    uid: string
    friend_uid: string
    created_at: Date
  }
  gateways: {
    gateway: string
    seen_at: Date
    expires_at: Date
    ended: boolean
  }
  gone_messages: {
    app_no: number
    id: number
  }
  groups: {
    app_no: number
    guid: string
    name: string
    name_key: string
    type: string
    password_hash: string | null
    icon: string | null
    icon_file: string | null
    description: string | null
    owner: string
    permissions: unknown | null
    metadata: unknown | null
    tags: string[]
    members_count: number
    created_at: Date
    updated_at: Date | null
    updated_by: string | null
    created_second: number
    changed_second: number
    removed_at: Date | null
    card: string
  }
  held_edits: {
    app_no: number
    id: number
    edit_no: number
    edited_by: string
    data: unknown
    tags: string[]
    mentions: string[] | null
    files: string[] | null
    edited_before: Date | null
    checks: unknown
    held_at: Date
  }
  held_messages: {
    app_no: number
    id: number
    conversation: number
    sender: string
    category: string
    type: string
    data: unknown
    tags: string[]
    muid: string | null
    parent_id: number | null
    quoted_id: number | null
    counts: boolean
    shows: boolean
    counted: number
    status: string
    checks: unknown | null
    rule: unknown | null
    delivered: boolean
    held_at: Date
  }
  idempotency: {
    app_no: number
    credential: Buffer
    uid: string
    key: string
    request_hash: Buffer
    answer_sealed: Buffer | null
    created_at: Date
    message_id: number | null
  }
  import_parts: {
    app_no: number
    import_id: number
    part: number
    content: Buffer
  }
  import_problems: {
    app_no: number
    import_id: number
    part: number
    line: number
    code: string
    message: string
  }
  import_sums: {
    app_no: number
    import_id: number
    kind: string
    conversation: string
    imported: number
    checksum: number
    there: number
    there_checksum: number
  }
  imports: {
    app_no: number
    id: number
    state: string
    dry_run: boolean
    by_conversation: boolean
    parts: number
    bytes: number
    job_id: number | null
    place: unknown | null
    counts: unknown
    problems: number
    erasures: string[]
    created_at: Date
    started_at: Date | null
    ended_at: Date | null
  }
  inbox: {
    app_no: number
    uid: string
    kind: string
    with_id: string
    conversation: number
    read_id: number
    read_counted: number
    own_since: number
    cleared_id: number
    tags: string[]
    pinned_at: Date | null
    visible: boolean
    blocked: boolean
    created_second: number | null
    scope: string | null
    joined_at: Date | null
  }
  interactions: {
    app_no: number
    message_id: number
    uid: string
    element_id: string
    at: Date
  }
  job_schedules: {
    app_no: number
    key: string
    name: string
    input: unknown
    every_seconds: number | null
    at: string | null
    zone: string | null
    days: number[] | null
    next_at: Date
  }
  job_steps: {
    app_no: number
    job_id: number
    step: string
    result: unknown | null
  }
  jobs: {
    app_no: number
    id: number
    name: string
    state: string
    priority: number
    tries: number
    epoch: number
    cancelling: boolean
    again: boolean
    stepped: boolean
    worker_id: string | null
    run_at: Date
    deadline: Date | null
    created_at: Date
    ended_at: Date | null
    dedupe_key: string | null
    serial_key: string | null
    input: unknown
    checkpoint: unknown | null
    done: number | null
    total: number | null
    error: string | null
  }
  keyword_lists: {
    app_no: number
    list_id: string
    revision: number
    name: string
    description: string | null
    category: string
    from_file: boolean
    entries: string[]
    created_at: Date
    updated_at: Date
  }
  knowledge_chunks: {
    app_no: number
    chunk_id: string
    source_id: string
    page_id: string | null
    no: number
    heading: string
    text: string
    words: string
  }
  knowledge_pages: {
    app_no: number
    source_id: string
    page_id: string
    no: number
    url: string
    depth: number
    title: string
    description: string
    state: string
    reason: string | null
    due_at: Date | null
    tries: number
    etag: string | null
    last_modified: string | null
    digest: Buffer | null
    chunks: number
    crawled_at: Date | null
    created_at: Date
    updated_at: Date
  }
  knowledge_sources: {
    app_no: number
    source_id: string
    kind: string
    title: string
    body: string | null
    file_id: string | null
    file_name: string | null
    mime_type: string | null
    url: string | null
    depth: number | null
    most_pages: number | null
    indexes: boolean
    pages: number
    links_lost: boolean
    state: string
    reason: string | null
    revision: number
    chunks: number
    created_at: Date
    updated_at: Date
  }
  knowledge_vectors: {
    app_no: number
    chunk_id: string
    model: string
    dimensions: number
    vector: Buffer
  }
  leases: {
    job: string
    worker_id: string
    epoch: number
  }
  log_breaks: {
    app_no: number
    last: number
    next: number
    at: Date
  }
  log_origin: {
    system_id: string | null
    timeline: number | null
    wal_position: number | null
    break_no: number
  }
  mark_thinning: {
    place: unknown | null
    began_at: Date
  }
  marks: {
    app_no: number
    conversation: number
    uid: string
    kind: string
    upto_id: number
    at: Date
  }
  mentions: {
    app_no: number
    uid: string
    conversation: number
    message_id: number
    parent_id: number | null
    counts: boolean
  }
  messages: {
    app_no: number
    id: number
    conversation: number
    sender: string
    category: string
    type: string
    data: unknown
    tags: string[]
    muid: string | null
    parent_id: number | null
    quoted_id: number | null
    counts: boolean
    shows: boolean
    counted: number
    updated_at: Date | null
    edited_at: Date | null
    edited_by: string | null
    deleted_at: Date | null
    deleted_by: string | null
    pinned_at: Date | null
    pinned_by: string | null
    reacted: boolean
    saved: boolean
    silent: boolean
  }
  model_providers: {
    app_no: number
    provider_id: string
    name: string
    kind: string
    url: string
    key_sealed: Buffer | null
    input_price: number | null
    output_price: number | null
    fallback_id: string | null
    fallback_model: string | null
    embedding_model: string | null
    created_at: Date
    updated_at: Date
  }
  moderation_rules: {
    app_no: number
    rule_id: string
    revision: number
    active: boolean
    name: string
    description: string | null
    enabled: boolean
    action: string[]
    filters: unknown
    conditions: unknown
    created_at: Date
    updated_at: Date
  }
  muids: {
    app_no: number
    sender: string
    muid: string
    target: string
    message_id: number | null
  }
  notification_batches: {
    app_no: number
    uid: string
    channel: string
    conversation: number
    first_id: number
    due_at: Date | null
    covered_id: number
    sent_day: string | null
    sent_today: number
    ended_at: Date | null
  }
  notification_deliveries: {
    app_no: number
    id: number
    channel: string
    provider: string
    uid: string
    push_hash: Buffer
    conversation: number
    position: number
    message_id: number
    what: string
    by_uid: string
    private: boolean
    ids: string[] | null
    tries: number
    due_at: Date
    expires_at: Date
  }
  notification_fanouts: {
    app_no: number
    position: number
    key: string
    after_uid: string | null
  }
  notification_held: {
    app_no: number
    uid: string
    position: number
    conversation: number
    message_id: number
    by_uid: string
    until: Date
  }
  notification_logging: {
    app_no: number
    until: Date
  }
  notification_logs: {
    app_no: number
    id: string
    uid: string
    channel: string
    trigger: string
    message_id: number | null
    reaction_id: number | null
    category: string | null
    type: string | null
    sender: string
    receiver: string
    receiver_type: string
    reaction_sender: string | null
    provider: string | null
    provider_id: string | null
    platform: string | null
    push_token: string | null
    payload: unknown | null
    triggered: boolean
    reason: string | null
    success: boolean | null
    sent_at: Date
    started_at: Date
    ended_at: Date
    day: string
  }
  notification_mutes: {
    app_no: number
    kind: string
    with_id: string
    uid: string
    until: Date
  }
  notification_providers: {
    app_no: number
    channel: string
    kind: string
    provider_id: string
    is_default: boolean
    enabled: boolean
    details: unknown
    secret_sealed: Buffer
    created_at: Date
    updated_at: Date
  }
  notification_settings: {
    app_no: number
    settings: unknown
  }
  notification_shown: {
    app_no: number
    push_hash: Buffer
    conversation: number
    uid: string
    ids: string[]
    shown_at: Date
  }
  notification_users: {
    app_no: number
    uid: string
    choices: unknown
    timezone: string | null
    email: string | null
    phno: string | null
  }
  notifier_progress: {
    app_no: number
    shard: number
    position: number
  }
  positions: {
    app_no: number
    position: number
  }
  presence: {
    app_no: number
    uid: string
    name_key: string
    gateways: string[]
  }
  push_tokens: {
    app_no: number
    push_hash: Buffer
    push_sealed: Buffer
    token_hash: Buffer
    uid: string
    platform: string
    provider_id: string | null
    created_at: Date
    updated_at: Date
  }
  reaction_counts: {
    app_no: number
    message_id: number
    reaction: string
    count: number
    first_id: number
  }
  reactions: {
    app_no: number
    uid: string
    message_id: number
    reaction: string
    id: number
    reacted_at: Date
  }
  receipt_floors: {
    app_no: number
    kind: string
    conversation: number
    floor: number
    ahead_uid: string | null
    ahead_id: number
    laggards: string[] | null
    bound: number | null
    deleted: number
  }
  receipt_progress: {
    app_no: number
    kind: string
    position: number
    ended: boolean
  }
  removed_uploads: {
    app_no: number
    file_id: string
    ends_at: Date
  }
  review_claims: {
    app_no: number
    item_id: number
    moderator: string
    until: Date
  }
  reviews: {
    app_no: number
    message_id: number
    sender: string
    rule_id: string | null
    rule_name: string | null
    revision_id: string | null
    condition: number | null
    found: string | null
    actions: string[]
    reason: string | null
    blocked_at: Date
    updated_at: Date
    reviewed_at: Date | null
    decision: string | null
    reviewed_by: string | null
    note: string | null
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
    permissions: unknown | null
    restrictions: unknown | null
    built_in: boolean
    created_at: Date
    updated_at: Date | null
    removed_at: Date | null
  }
  rule_previews: {
    app_no: number
    id: number
    rule: unknown
    after_id: number
    before_id: number
    from_second: number | null
    to_second: number
    most: number
    checked: number
    blocked: number
    newly_blocked: number
    no_longer_blocked: number
    too_slow: number
    progress: number
    complete: boolean
    samples: unknown
    created_at: Date
    ended_at: Date | null
  }
  sanctions: {
    app_no: number
    id: number
    uid: string
    kind: string
    guid: string
    until: Date | null
    reason: string
    created_at: Date
    updated_at: Date
  }
  saves: {
    app_no: number
    uid: string
    message_id: number
    saved_at: Date
  }
  search_changes: {
    app_no: number
    id: number
  }
  search_grams: {
    app_no: number
    gram: string
    upto_id: number
    ordinals: Buffer
  }
  search_ids: {
    app_no: number
    upto_id: number
    block: number
    ids: Buffer
  }
  search_segments: {
    app_no: number
    upto_id: number
    after_id: number
    messages: number
    version: number
  }
  sequencer_progress: {
    taken: number
    gaps: string
    watched: string
    stamp: number | null
    stamp_day: string | null
    since: string
  }
  subject_flags: {
    app_no: number
    kind: string
    subject: string
    uid: string
    item_id: number
    reason_id: string
    remark: string | null
    flagged_at: Date
  }
  suppressed_addresses: {
    app_no: number
    id: number
    channel: string
    address: string
    reason: string
    details: string | null
  }
  thread_users: {
    app_no: number
    uid: string
    parent_id: number
    conversation: number
    direct: boolean
    wrote: boolean
    follows: boolean
  }
  threads: {
    app_no: number
    parent_id: number
    conversation: number
    replies: number
    last_id: number
    updated_second: number
  }
  totals: {
    app_no: number
    what: string
    shard: number
    total: number
  }
  uncounted: {
    app_no: number
    conversation: number
    id: number
  }
  usage_activity: {
    app_no: number
    uid: string
    day: string
  }
  usage_days: {
    app_no: number
    day: string
    what: string
    count: number
  }
  usage_peaks: {
    app_no: number
    day: string
    online: number
  }
  usage_progress: {
    app_no: number
    position: number
  }
  usage_returns: {
    app_no: number
    day: string
    before: string
    users: number
  }
  usage_seen: {
    app_no: number
    day: string
    uid: string
  }
  usage_steps: {
    app_no: number
    at: Date
    what: string
    count: number
  }
  users: {
    app_no: number
    uid: string
    name: string
    name_key: string
    avatar: string | null
    avatar_file: string | null
    link: string | null
    role: string
    status_message: string | null
    metadata: unknown | null
    tags: string[]
    last_active_at: Date | null
    created_at: Date
    added_at: Date
    updated_at: Date | null
    deactivated_at: Date | null
    removed_at: Date | null
    online: boolean
    bot: boolean
    card: string
  }
  view_totals: {
    app_no: number
    uid: string
    visible: number
    unblocked: number
  }
  webhook_backlog: {
    app_no: number
    webhook_no: number
    key: string
    position: number
  }
  webhook_dead_letters: {
    app_no: number
    webhook_no: number
    position: number
    upto: number
    type: string | null
    reason: string
    at: Date
  }
  webhook_deliveries: {
    app_no: number
    webhook_no: number
    id: number
    position: number
    type: string
    try: number
    status: number | null
    error: string | null
    duration_ms: number
    answer: string | null
    at: Date
    day: string
  }
  webhook_parked: {
    app_no: number
    webhook_no: number
    key: string
    tries: number
    retry_at: Date
  }
  webhook_progress: {
    app_no: number
    webhook_no: number
    position: number
    failures: number
    failing_since: Date | null
    failed_at: Date | null
    probes: number
    waits_until: Date | null
  }
  webhooks: {
    app_no: number
    no: number
    shard: number
    id: string
    name: string
    url: string
    use_basic_auth: boolean
    username: string | null
    password_sealed: Buffer | null
    enabled: boolean
    retry_on_failure: boolean
    triggers: string[]
    types: string[]
    since: string[]
    secret_sealed: Buffer
    old_secret_sealed: Buffer | null
    old_secret_until: Date | null
    removed: boolean
    created_at: Date
    updated_at: Date
  }
  workers: {
    worker_id: string
    expires_at: Date
  }
}
