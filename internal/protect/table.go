package protect

import (
	"regexp"
	"strings"
)

// Table is what names of files and folders say, as regular expressions of folded names and
// as lists of such names, in the syntax that Go and JavaScript share. The extension's copy
// is written from it.
var Table = struct {
	SecretFiles   []string // files with secrets
	SecretFolders []string // folders made for them
	Harmless      string   // samples and templates have none
	SecretWord    string   // names that speak of secrets
	Code          string   // code and prose mention secrets more often than they contain them
	Short         string   // a short name that Windows gives to a longer one, such as GIT~1 to .git
	OrdinaryKinds []string // extensions of files that do nothing until a program that somebody started reads them
	OrdinaryNames string   // the same, of whole names
	ActingFolders []string // folders whose files start by themselves, or are programs that other files call by name
	OuterFolders  string   // folders that protect what is in them even if the open folder itself is in one
	ActingFiles   []string // files of ordinary kinds on which an editor, a shell, Git, a build tool, CI or an agent acts
}{
	SecretFiles: []string{
		`^\.env(\..+)?$`,
		`\.env$`,
		`^\.envrc$`,
		`\.(pem|key|p8|p12|pfx|ppk|jks|keystore|kdbx?|der|asc|gpg|age|ovpn|agekey|kubeconfig|secrets?|credentials?)$`,
		`^id_(rsa|dsa|ecdsa|ed25519)(_sk)?([.-].+)?$`,
		`_(rsa|dsa|ecdsa|ed25519)$`,
		`^\.?(npmrc|pypirc|netrc|yarnrc(\.yml)?|dockercfg|pgpass|my\.cnf|mylogin\.cnf|htpasswd|s3cfg|boto|git-credentials|vault-token|terraformrc)$`,
		`^_netrc$`,
		`^\.[\w-]*_history$`,
		`^(service[._-]?account|application_default_credentials|client_secret|msal_token_cache|accesstokens).*\.(json|bin)$`,
		`\.tfvars(\.json)?$`,
		`\.tfstate(\.backup)?$`,
		`^kubeconfig$`,
		`^(local\.settings|appsettings\..+\.local)\.json$`,
	},
	SecretFolders: []string{".ssh", ".gnupg", ".aws", ".azure", ".kube", ".gcloud", ".password-store", ".secrets"},
	Harmless:      `[._-](example|sample|template|dist|schema)(\.(json|ya?ml|toml|properties|ini))?$|\.pub$`,
	SecretWord:    `(^|[._-])(credentials?|secrets?|passwords?|passwd|shadow|(auth|access)[._-]?tokens?)([._-]|$)`,
	Code:          `\.(tsx?|jsx?|[mc][jt]s|py|go|rs|java|kts?|cs|c|cc|cpp|h|hpp|rb|php|swift|scala|md|rst|html|s?css|vue|svelte)$`,
	Short:         `^[^~]{1,6}~\d{1,6}(\.[^.]{0,3})?$`,
	OrdinaryKinds: []string{
		`[mc]?[jt]sx?|vue|svelte|astro|html?|s?css|sass|less|graphql|gql|proto|sql|wat`,
		`go|rs|pyi?|rb|php|java|kts?|scala|cs|fs|vb|c|h|cc|cpp|cxx|hh|hpp|mm?|swift|dart|lua|r|jl|exs?|erl|hrl|hs|mli?|clj[cs]?|elm|zig|nim|sol|pl|pm|tcl|awk`,
		`sh|bash|zsh|ps1|bat|cmd`,
		`md|mdx|rst|adoc|txt|tex|json[c5l]?|ya?ml|toml|xml|csv|tsv|svg|po|snap|golden|diff|patch|log`,
		`|`,
	},
	OrdinaryNames: `^(readme|licen[cs]e|changelog|authors|contributors|copying|notice|todo|news|\.editorconfig|\.gitkeep|\.keep|\.prettierignore|\.eslintignore)$`,
	ActingFolders: []string{"node_modules", "site-packages", "githooks", "git-hooks", "husky", "autostart", "startup", "launchagents", "launchdaemons", "systemd", "cron.d", "init.d", "profile.d"},
	OuterFolders:  `^\.(git|vscode|idea|ssh|husky|githooks|devcontainer)$`,
	ActingFiles: []string{
		// JavaScript: manifests, locks, and configuration that is code
		`^(package-lock|npm-shrinkwrap|lerna|nx|turbo|rush|angular|project|workspace|deno|jsr|import_?map|bower|component|vercel|netlify|firebase|now|tslint|nodemon|app)\.jsonc?$`,
		`^(pnpm-lock|pnpm-workspace|lefthook|lefthook-local)\.(ya?ml|toml|json)$`,
		`^[tj]sconfig(\..+)?\.json$`,
		`^(bunfig|netlify|mise|hugo)\.toml$`,
		`\.(config|conf|setup)\.([mc]?[jt]sx?|json|ya?ml|toml)$`,
		`rc\.([mc]?[jt]s|json|ya?ml|toml)$`,
		`^(gulpfile|gruntfile|jakefile|setuptests)\b.*\.[mc]?[jt]s$`,
		// Python
		`^(setup|conftest|noxfile|fabfile|dodo|tasks|conanfile|sitecustomize|usercustomize|__pypackages__|wscript)\.py$`,
		`^pyproject\.toml$`,
		`^(.+[._-])?(requirements|constraints)([._-].+)?\.txt$`,
		`^environment\.ya?ml$`,
		// Rust, Go, JVM, .NET and others
		`^(cargo|rust-toolchain|rust-analyzer|rustfmt|clippy|gradle.*|libs\.versions|fpm|alr)\.toml$`,
		`^build\.(rs|zig|xml|sh|ps1|bat|cmd|jl)$`,
		`^rust-project\.json$`,
		`^(pom|ivy|ivysettings|settings|maven-.*|extensions)\.xml$`,
		`\.gradle\.kts$`,
		`^(mvnw|gradlew)\.(bat|cmd)$`,
		`^(global|launchsettings|dotnet-tools|nuget|project\.assets|omnisharp)\.(json|xml)$`,
		`^(composer|vcpkg|cmakepresets|cmakeuserpresets|compile_commands)\.json$`,
		`^cmakelists\.txt$`,
		`^conanfile\.txt$`,
		`^(mix|rebar)\.exs?$`,
		`^package\.(swift|yaml)$`,
		`^(pubspec|stack|skaffold|serverless|snapcraft|galaxy)\.ya?ml$`,
		`^setup\.hs$`,
		`^(xmake|premake\d*)\.lua$`,
		// builds, containers and CI
		`^(gnu)?makefile\b`,
		`\.mk$`,
		`^(justfile|taskfile|dockerfile|containerfile|jenkinsfile|vagrantfile|rakefile|gemfile|procfile|tiltfile|earthfile|brewfile)\b`,
		`^(docker-)?compose\b.*\.ya?ml$`,
		`pipelines?([._-].+)?\.ya?ml$`,
		`^\.?(appveyor|buildspec|cloudbuild|wercker|codemagic|circle|shippable|travis|drone|bitrise|semaphore|woodpecker|action|render|fly|app|codeship-.+|gitlab-ci.*)\.(ya?ml|toml)$`,
		// shells
		`profile\.ps1$`,
		`^(autoexec|startup|bashrc|zshrc|profile|bash_profile)\.(bat|cmd|sh|bash|zsh|ps1)$`,
		// instructions to agents, and the servers that they start
		`^(claude|agents?|gemini|qwen|warp|codex|crush|junie|conventions|skill|copilot-instructions)(\.local|\.override)?\.md$`,
		`\.(instructions|prompt|agent|chatmode)\.md$`,
		`^\.?mcp(_config|-config|\.config)?\.(json|ya?ml|toml)$`,
	},
}

var (
	secretFiles   = compiled(Table.SecretFiles)
	actingFiles   = compiled(Table.ActingFiles)
	secretFolders = set(Table.SecretFolders)
	actingFolders = set(Table.ActingFolders)
	harmless      = regexp.MustCompile(Table.Harmless)
	secretWord    = regexp.MustCompile(Table.SecretWord)
	code          = regexp.MustCompile(Table.Code)
	short         = regexp.MustCompile(Table.Short)
	ordinary      = regexp.MustCompile(OrdinaryKinds())
	ordinaryNames = regexp.MustCompile(Table.OrdinaryNames)
	outer         = regexp.MustCompile(Table.OuterFolders)
)

// OrdinaryKinds returns the expression of the names of ordinary kinds.
func OrdinaryKinds() string { return `\.(` + strings.Join(Table.OrdinaryKinds, "|") + `)$` }

func compiled(list []string) (all []*regexp.Regexp) {
	for _, text := range list {
		all = append(all, regexp.MustCompile(text))
	}
	return all
}

func set(list []string) map[string]bool {
	all := map[string]bool{}
	for _, name := range list {
		all[name] = true
	}
	return all
}
