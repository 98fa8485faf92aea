# Installs Agent Voice for the current user on Windows, without administrator rights:
#
#   .\install.ps1                     the newest release
#   .\install.ps1 -Version 1.2.3      this one, also to go back
#   .\install.ps1 -From FOLDER        from a folder with the archive and SHA256SUMS, without a network
#   .\install.ps1 -Uninstall          removes the program; your record, settings and models stay
param([string]$Version, [string]$From, [switch]$Uninstall)
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue' # a progress bar slows the download down
$app = Join-Path $env:LOCALAPPDATA 'Programs\agentvoice'
$path = [Environment]::GetEnvironmentVariable('Path', 'User')
if ($Uninstall) {
  if (Test-Path $app) { Remove-Item -Recurse -Force $app }
  [Environment]::SetEnvironmentVariable('Path', (($path -split ';' | Where-Object { $_ -and $_ -ne $app }) -join ';'), 'User')
  Write-Output 'Agent Voice is removed. Your record, settings and models are kept; docs/privacy.md says where they are.'
  exit 0
}
$url = 'https://github.com/agentvoice/agentvoice-daemon/releases/'
$url += if ($Version) { "download/v$($Version.TrimStart('v'))" } else { 'latest/download' }
$scratch = Join-Path ([IO.Path]::GetTempPath()) ([IO.Path]::GetRandomFileName())
New-Item -ItemType Directory $scratch | Out-Null
try {
  function Get-Part($name) {
    if ($From) { Copy-Item (Join-Path $From $name) $scratch } else { Invoke-WebRequest -UseBasicParsing "$url/$name" -OutFile (Join-Path $scratch $name) }
  }
  Get-Part 'SHA256SUMS'
  $wanted = if ($Version) { [regex]::Escape($Version.TrimStart('v')) } else { '[0-9][0-9A-Za-z.+-]*' }
  $line = Get-Content (Join-Path $scratch 'SHA256SUMS') | Where-Object { $_ -match "^[0-9a-f]{64}  agentvoice-$wanted-win32-x64\.zip$" } | Select-Object -Last 1
  if (-not $line) { throw 'there is no archive for Windows on x64 in this release' }
  $sum, $archive = $line -split '  '
  Get-Part $archive
  if ((Get-FileHash (Join-Path $scratch $archive) -Algorithm SHA256).Hash -ne $sum) { throw "$archive is damaged: fetch it again" }
  Expand-Archive (Join-Path $scratch $archive) $scratch
  $new = Join-Path $scratch ([IO.Path]::GetFileNameWithoutExtension($archive))
  & (Join-Path $new 'agentvoice-daemon.exe') version | Out-Null
  if ($LASTEXITCODE -ne 0) { throw 'the program does not start on this machine; nothing was changed' }
  New-Item -ItemType Directory (Split-Path $app) -Force | Out-Null
  $old = "$app.old"
  if (Test-Path $old) { Remove-Item -Recurse -Force $old }
  if (Test-Path $app) { Move-Item $app $old } # fails as a whole while the program runs
  Move-Item $new $app
  if (Test-Path $old) { Remove-Item -Recurse -Force $old }
  if (($path -split ';') -notcontains $app) { [Environment]::SetEnvironmentVariable('Path', "$path;$app", 'User') }
  Write-Output "Agent Voice is installed in $app. In a new terminal: agentvoice-daemon talk"
} finally {
  Remove-Item -Recurse -Force $scratch
}
