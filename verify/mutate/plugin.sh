# SPDX-License-Identifier: MIT
# plugin.sh: for mutate.sh, again.sh and hand.sh: compiles a changed copy of a variant's source as a plug-in. They set work
# (whose impl/ is the copy), kind (host or emulated), build and regather.

# variants_of SOURCE: the symbols of its variants, read from its object, since macros define some.
variants_of() {
    object=$build/${1%.*}.o
    [ "$kind" = host ] || object=$build/emulated/${1%.*}.o
    nm -g --defined-only "$object" | sed -n 's/.* [BDR] rg_\(variant\|emulated\)_\([a-z0-9_]*\)$/\2/p'
}

# compile SOURCE SO [FLAGS]: compiles the copy of the source in $work as a plug-in; FLAGS replace -w.
compile() {
    copy=$work/$1
    symbols=$(variants_of "$1" | sed 's/.*/\&RG_VARIANT_SYMBOL(&),/' | tr '\n' ' ')
    { cat "$copy" && echo "RG_PLUGIN = {${symbols}NULL};"; } > "$copy.plugin" || return 1
    needs=$(sed -n 's/.*\.needs *= *"\([a-z0-9]*\)".*/\1/p' "$copy" | sort -u | tail -n 1)
    if [ "$kind" = host ]; then
        # shellcheck disable=SC2046
        ${CC:-gcc} $("$regather" --cflags c $(echo "$needs" | grep avx) | sed "s|-I[^ ]*||") -O2 -g0 ${3:--w} -Iimpl -x c \
            "$copy.plugin" -o "$2" 2> "$work/words"
    else
        # shellcheck disable=SC2046
        ${CXX:-g++} $("$regather" --cflags emulated | sed "s|-I[^ ]*||g") -g0 -w -I"$work/impl" -I"$work/impl/gpu/emulator" \
            "$copy.plugin" -o "$2.o" 2> "$work/words" && ${CXX:-g++} -shared "$2.o" -o "$2"
    fi
}

text_of() {
    objcopy -O binary --only-section='.text*' --only-section='.rodata*' --only-section='.data*' "$1" "$work/text" 2> /dev/null &&
        cksum < "$work/text"
}

# params_of SOURCE: options of verify. A table of weights needs a wider bound, which the checker does not accept from a plug-in;
# so that the unchanged source passes, the table is off.
params_of() {
    case $1 in
    impl/gridding/naive_*) echo --params table=0 ;;
    impl/gridding/gather.cu | impl/gridding/scatter*) echo --params PRECOMP_INT=0 ;;
    esac
}

# judge_mutant: sets the outcome and the output for the changed $source; $plain is the plug-in of the unchanged source.
judge_mutant() {
    said=-
    rm -f "$so"
    if ! compile "$source" "$so"; then
        outcome='no program'
        return
    elif [ "$(text_of "$so")" = "$(text_of "$plain")" ]; then
        outcome='same code'
        return
    fi
    names=$("$regather" list --table variants $([ "$kind" = host ] || echo --device host) --plugin "$so" 2> /dev/null |
        awk -F'\t' -v so="$(basename "$so")" 'index($2, so ":") == 1 { print $1 ":" $2 }')
    # shellcheck disable=SC2046,SC2086
    timeout 600 "$regather" verify $names --plugin "$so" --quiet --stop --limit 10 \
        --device "$([ "$kind" = host ] && echo cpu || echo host)" $(params_of "$source") > "$work/said" 2>&1
    case $? in
    0) outcome=passed ;;
    1 | 124) outcome=caught
        said=$(grep -m 1 -E '^ *(FAIL|CRASH|TIMEOUT) at ' "$work/said" | sed 's/^ *//' | tr '\t' ' ' | cut -c 1-120) ;;
    *) outcome='not run' said=$(tail -n 1 "$work/said" | tr '\t' ' ') ;;
    esac
    # Compiles with the warnings that the build makes errors.
    if [ "$outcome$kind" = passedhost ] && ! compile "$source" "$so" -Wall; then
        outcome=caught said="the build: $(grep -m 1 -o 'error: .*' "$work/words" | cut -c 1-100)"
    fi
}
